import { setTimeout as pause } from 'node:timers/promises';
import Pool from 'undici/lib/dispatcher/pool.js';
import type { Span } from '../../platform/spans/index.ts';
import { AnswerCollector, type CollectOptions, type PendingAnswer } from './answerCollector.ts';
import type { ArrivalRoom } from './answerRoom.ts';
import { callSpan, endWith } from './callSpan.ts';
import { nodeAddress } from './nodeAddress.ts';
import type { Budget } from './nodeBudget.ts';
import { NodeError } from './nodeError.ts';
import {
  type NodeCall,
  parseBody,
  type RpcResponse,
  readResponses,
  refusesBatch,
  resultOf,
} from './rpcResponse.ts';

/** Relayed requests to one node at a time; more wait for a free connection. Nodes serve some dozens at once well. */
const RELAY_CONNECTIONS = 64;
const RELAY_CONNECT_TIMEOUT_MS = 2_000;
/** Connections for blocks with traces, which no crowd of clients may keep from a node. */
const BLOCK_CONNECTIONS = 16;
/** Connections for polls, which must not wait for clients or blocks: three, as many as one asks where batches are refused. */
const POLL_CONNECTIONS = 3;
const CONNECT_TIMEOUT_MS = 5_000;
/** A node that is silent for longer is taken for dead; trace_block of a full mainnet block takes a few seconds. */
const SILENCE_MS = 30_000;
/** Largest answer that is taken in: the traces of the heaviest blocks known stay well below. */
const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

/** How a client's request is carried out. */
export interface RelayOptions {
  /** Until the answer is whole, or known to be a stream. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** A large answer is given while it arrives. */
  readonly mayStream: boolean;
  readonly room: ArrivalRoom | undefined;
  /** The header by which the node's own spans belong to those of the request. */
  readonly traceparent?: string | undefined;
}

/** How something is carried out that we ask ourselves; left out: as the traces of a block. */
export interface CallOptions {
  /** It is small, and must not wait for blocks that are fetched. */
  readonly isPoll?: boolean;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** What it is a part of. */
  readonly span?: Span;
}

/** What a node may be asked for ourselves. */
export type NodeCalls = Pick<NodeClient, 'host' | 'call' | 'batch'>;

interface RpcRequest {
  readonly method: string;
}

/** The one client of a node, over HTTP. Its URL may hold a key or a password, so it appears in no message. */
export class NodeClient {
  /** The node's host and port, to be shown in logs. */
  readonly host: string;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #relayed: Pool;
  readonly #blocks: Pool;
  readonly #polls: Pool;
  #relayedInFlight = 0;
  /** Not every node does, nor every proxy before one. */
  #takesBatches = true;

  /** Undefined where nothing limits it. */
  readonly budget: Budget | undefined;

  constructor(url: string, budget?: Budget) {
    this.budget = budget;
    const { origin, host, path, headers } = nodeAddress(url);
    this.host = host;
    this.#path = path;
    this.#headers = headers;
    this.#relayed = new Pool(origin, {
      connections: RELAY_CONNECTIONS,
      connect: { timeout: RELAY_CONNECT_TIMEOUT_MS },
      // Each request has a deadline of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const patient = {
      connect: { timeout: CONNECT_TIMEOUT_MS },
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
    };
    this.#blocks = new Pool(origin, { connections: BLOCK_CONNECTIONS, ...patient });
    this.#polls = new Pool(origin, { connections: POLL_CONNECTIONS, ...patient });
  }

  async close(): Promise<void> {
    await Promise.all([this.#relayed, this.#blocks, this.#polls].map((pool) => pool.destroy()));
  }

  /** Sends a client's request, as it is. */
  relay(body: string, { timeoutMs, maxBytes, mayStream, room, traceparent }: RelayOptions): PendingAnswer {
    const { budget } = this;
    const collect: CollectOptions = { timeoutMs, maxBytes, mayStream, room, budget };
    const answer = new AnswerCollector(this.host, collect, () => this.#relayedInFlight--);
    budget?.takeCalls(1);
    if (this.#relayedInFlight++ >= RELAY_CONNECTIONS) answer.waitsForPlace();
    const headers = this.#headersWith(traceparent);
    this.#relayed.dispatch({ path: this.#path, method: 'POST', headers, body }, answer);
    return answer;
  }

  /** The same node, all of whose calls are a part of this. */
  under(span: Span): NodeCalls {
    const batch: NodeClient['batch'] = (calls, options) => this.batch(calls, { ...options, span });
    return {
      host: this.host,
      batch,
      call: async (method, ...params) => resultOf(method, (await batch([[method, ...params]]))[0]),
    };
  }

  /** The result of one call. Rejects with NodeError; a node's own error is one of reason `refused`. */
  async call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const [response] = await this.batch([[method, ...params]]);
    return resultOf(method, response);
  }

  /** The responses to several calls, in their order, in one request where the node takes batches. Rejects with NodeError. */
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
    { isPoll = false, timeoutMs, maxBytes = MAX_BLOCK_BYTES, span }: CallOptions,
  ): Promise<unknown> {
    const { budget } = this;
    const calls = Array.isArray(request) ? request.length : 1;
    // Polls do not wait, and ingest not for what is left to clients.
    while (!isPoll && budget !== undefined && budget.callsLeft('retry') < 1)
      await pause(budget.waitMs('retry') + 1);
    budget?.takeCalls(calls);
    const collect: CollectOptions = { timeoutMs, maxBytes, readsNotFound: true, budget };
    const answer = new AnswerCollector(this.host, collect, () => undefined);
    const body = JSON.stringify(request);
    const pool = isPoll ? this.#polls : this.#blocks;
    const headers = this.#headersWith(span?.traceparent);
    pool.dispatch({ path: this.#path, method: 'POST', headers, body }, answer);
    const arrived = await answer.body;
    if (arrived.kind === 'stream') throw new NodeError('oversized', `${this.host} answered with a stream`);
    return parseBody(arrived.bytes, arrived.status, this.host);
  }

  #headersWith(traceparent: string | undefined): Record<string, string> {
    return traceparent === undefined ? this.#headers : { ...this.#headers, traceparent };
  }
}
