import { setTimeout as pause } from 'node:timers/promises';
import type { Pool } from 'undici';
import { type BudgetClient, Slots } from '../../../platform/budgets/index.ts';
import { createPool } from '../../../platform/httpClient/index.ts';
import type { Span } from '../../../platform/spans/index.ts';
import { readLargeResponse } from '../largeResponses/readLargeResponse.ts';
import type { ResponseMemory } from '../largeResponses/responseMemory.ts';
import { callSpan, endWith } from './callSpan.ts';
import { nodeAddress } from './nodeAddress.ts';
import type { Budget } from './nodeBudget.ts';
import { NodeError } from './nodeError.ts';
import { type CollectOptions, type PendingResponse, ResponseCollector } from './responseCollector.ts';
import type { ReceiveReservation } from './responseQuota.ts';
import {
  type NodeCall,
  parseBody,
  type RpcResponse,
  readResponses,
  refusesBatch,
  resultOf,
} from './rpcResponse.ts';

/** Maximum number of parallel relayed requests to a node, which handles some dozens well. Others wait. */
const RELAY_CONNECTIONS = 64;
/** Part of the free connections that one client may use: a single client has 21, and two clients have 16 each. */
const RELAY_PART_OF_FREE = 1 / 2;
/** Number of connections that one client may use in any case, even if many processes relay requests to the node. */
const MIN_RELAY_CONNECTIONS = 4;
/** Client of requests that are not for one client, such as that for the header of a new block. */
const ALL_CLIENTS: BudgetClient = { address: '' };
const RELAY_CONNECT_TIMEOUT_MS = 2_000;
/** Number of connections for blocks with traces. They are separate, so that clients' requests do not delay ingest. */
const BLOCK_CONNECTIONS = 16;
/** Number of connections for polls, which must not wait. If the node rejects batches, a poll has 3 requests. */
const POLL_CONNECTIONS = 3;
/** Maximum number of connections to one node. */
export const CONNECTIONS_PER_NODE = RELAY_CONNECTIONS + BLOCK_CONNECTIONS + POLL_CONNECTIONS;
const CONNECT_TIMEOUT_MS = 5_000;
/** Time without data after which a request by ingest or a poll fails, except requests for traces. */
const SILENCE_MS = 30_000;
/** Default time limit of a response for ingest, as a multiple of the time without data: a node may send it slowly. */
const SILENCES = 4;
/** Responses for clients above this size are forwarded while received. Others are read whole, and may be cached. */
const RELAY_STREAM_BYTES = 1024 * 1024;
/** Default size limit of a response for ingest. The logs of a block full of empty logs have more than 100 MB. */
const MAX_WHOLE_BYTES = 256 * 1024 * 1024;
/** Default size limit of a response to a poll, which has at most three headers. */
const MAX_POLL_BYTES = 4 * 1024 * 1024;
/** Responses for ingest above this size are parsed while received. Others are read whole, which is faster. */
const LARGE_BYTES = 8 * 1024 * 1024;

export interface NodeClientOptions {
  readonly budget?: Budget | undefined;
  readonly processes?: number | undefined;
}

export interface RelayOptions {
  /** Client for which the request is sent. Default: it is for all clients. */
  readonly client?: BudgetClient | undefined;
  /** Maximum time until the response is complete or, if it is large, until its stream starts. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** True if a large response may be returned as a stream, which forwards it while it is received. */
  readonly mayStream: boolean;
  /** Number of bytes above which it is returned as a stream. Default: 1 MiB. */
  readonly streamAboveBytes?: number | undefined;
  readonly reservation: ReceiveReservation | undefined;
  /** Value of the `traceparent` header, by which the node links its own spans to the request. */
  readonly traceparent?: string | undefined;
}

/** Options of requests by Floodgate itself. The defaults suit a request for the traces of a block. */
export interface CallOptions {
  /** True for a small request that must not wait for connections or budgets. Default: false. */
  readonly isPoll?: boolean;
  /** Maximum time until the response is complete, or until it is parsed while received. */
  readonly timeoutMs?: number;
  /** Maximum time without data. Default: `SILENCE_MS`. */
  readonly silenceMs?: number;
  readonly maxBytes?: number;
  /** Memory limit for responses above `streamAboveBytes`, which are parsed while received. Default: read whole. */
  readonly memory?: ResponseMemory;
  readonly streamAboveBytes?: number;
  readonly span?: Span;
}

export type NodeCalls = Pick<NodeClient, 'host' | 'call' | 'batch'>;

interface RpcRequest {
  readonly method: string;
}

/** HTTP client of one node. The node's URL may contain an API key or a password, so no message contains the URL. */
export class NodeClient {
  readonly host: string;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #relayed: Pool;
  readonly #blocks: Pool;
  readonly #polls: Pool;
  readonly #relaySlots: Slots;
  /** False after the node, or a proxy before it, rejected a batch. */
  #takesBatches = true;

  /** Limits of calls and bytes per second; undefined if the node has no limits. */
  readonly budget: Budget | undefined;

  /** `processes` is the number of processes that relay requests to the node. Each has a part of the connections. */
  constructor(url: string, { budget, processes = 1 }: NodeClientOptions = {}) {
    this.budget = budget;
    const connections = Math.max(MIN_RELAY_CONNECTIONS, Math.floor(RELAY_CONNECTIONS / processes));
    this.#relaySlots = new Slots({
      total: connections,
      perClient: connections,
      partOfFree: RELAY_PART_OF_FREE,
      minShare: MIN_RELAY_CONNECTIONS,
    });
    const { origin, host, path, headers } = nodeAddress(url);
    this.host = host;
    this.#path = path;
    this.#headers = headers;
    this.#relayed = createPool(origin, {
      connections,
      connect: { timeout: RELAY_CONNECT_TIMEOUT_MS },
      // Each relayed request has its own deadline, so undici's timeouts are off.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connect = { timeout: CONNECT_TIMEOUT_MS };
    this.#blocks = createPool(origin, { connections: BLOCK_CONNECTIONS, connect });
    this.#polls = createPool(origin, { connections: POLL_CONNECTIONS, connect });
  }

  async close(): Promise<void> {
    await Promise.all([this.#relayed, this.#blocks, this.#polls].map((pool) => pool.destroy()));
  }

  /** Sends the body of a client's request unchanged, when a connection is free. Clients take turns. */
  relay(
    body: string,
    {
      client = ALL_CLIENTS,
      timeoutMs,
      maxBytes,
      mayStream,
      streamAboveBytes,
      reservation,
      traceparent,
    }: RelayOptions,
  ): PendingResponse {
    const { budget } = this;
    const collect: CollectOptions = {
      timeoutMs,
      maxBytes,
      streamAboveBytes: mayStream ? (streamAboveBytes ?? RELAY_STREAM_BYTES) : undefined,
      reservation,
      budget,
    };
    let endSlot: () => void = () => undefined;
    const answer = new ResponseCollector(this.host, collect, () => endSlot());
    budget?.takeCalls(1);
    const headers = this.#headersWith(traceparent);
    let isWaiting = true;
    endSlot = this.#relaySlots.take(client, (end) => {
      endSlot = end;
      isWaiting = false;
      answer.hasConnection();
      this.#relayed.dispatch({ path: this.#path, method: 'POST', headers, body }, answer);
    });
    if (isWaiting) answer.waitForConnection();
    return answer;
  }

  /** Returns a view of this client whose calls are child spans of `span`. */
  withSpan(span: Span): NodeCalls {
    const batch: NodeClient['batch'] = (calls, options) => this.batch(calls, { ...options, span });
    return {
      host: this.host,
      batch,
      call: async (method, ...params) => resultOf(method, (await batch([[method, ...params]]))[0]),
    };
  }

  /** Returns the result of one call. Rejects with NodeError: `refused` or `oversized` in case of a JSON-RPC error. */
  async call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const [response] = await this.batch([[method, ...params]]);
    return resultOf(method, response);
  }

  /** Returns the responses in call order. Sends one batch if the node accepts batches. Rejects with NodeError. */
  async batch(calls: readonly NodeCall[], options?: CallOptions): Promise<RpcResponse[]> {
    if (calls.length > 1 && !this.#takesBatches) return this.#oneByOne(calls, options);
    const requests = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));
    const [only] = requests;
    const body = await this.#post(requests.length === 1 && only !== undefined ? only : requests, options);
    if (calls.length > 1 && refusesBatch(body)) {
      this.#takesBatches = false;
      return this.#oneByOne(calls, options);
    }
    return readResponses(body, calls, this.host);
  }

  async #oneByOne(calls: readonly NodeCall[], options: CallOptions | undefined): Promise<RpcResponse[]> {
    const responses = await Promise.all(calls.map((call) => this.batch([call], options)));
    return responses.flat();
  }

  async #post(request: RpcRequest | readonly RpcRequest[], options: CallOptions = {}): Promise<unknown> {
    const span = options.span && callSpan(options.span, this.host, [request].flat());
    if (span === undefined) return this.#send(request, options);
    return endWith(span, this.#send(request, { ...options, span }));
  }

  async #send(
    request: RpcRequest | readonly RpcRequest[],
    {
      isPoll = false,
      silenceMs = SILENCE_MS,
      timeoutMs = SILENCES * silenceMs,
      maxBytes = isPoll ? MAX_POLL_BYTES : MAX_WHOLE_BYTES,
      memory,
      span,
      ...options
    }: CallOptions,
  ): Promise<unknown> {
    const { budget } = this;
    const calls = Array.isArray(request) ? request.length : 1;
    // Polls do not wait for the budget. Ingest waits, but may also use the share that clients must leave unused.
    while (!isPoll && budget !== undefined && budget.callsLeft('retry') < 1)
      await pause(budget.waitMs('retry') + 1);
    budget?.takeCalls(calls);
    const streamAboveBytes = memory && (options.streamAboveBytes ?? LARGE_BYTES);
    const collect: CollectOptions = { timeoutMs, maxBytes, streamAboveBytes, readsNotFound: true, budget };
    const answer = new ResponseCollector(this.host, collect, () => undefined);
    const body = JSON.stringify(request);
    const pool = isPoll ? this.#polls : this.#blocks;
    const headers = this.#headersWith(span?.traceparent);
    const timeouts = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
    pool.dispatch({ path: this.#path, method: 'POST', headers, body, ...timeouts }, answer);
    const arrived = await answer.body;
    if (arrived.kind === 'whole') return parseBody(arrived.bytes, arrived.status, this.host);
    if (memory === undefined) throw new NodeError('oversized', `${this.host} answered with a stream`);
    return readLargeResponse(arrived.stream, memory);
  }

  #headersWith(traceparent: string | undefined): Record<string, string> {
    return traceparent === undefined ? this.#headers : { ...this.#headers, traceparent };
  }
}
