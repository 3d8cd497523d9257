import { Pool } from 'undici';
import { AnswerCollector, type CollectOptions, type PendingAnswer } from './answerCollector.ts';
import type { ArrivalRoom } from './answerRoom.ts';
import { nodeAddress } from './nodeAddress.ts';
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
/** Connections for what we ask ourselves, which no crowd of clients may keep from a node: polls, and blocks with traces. */
const OWN_CONNECTIONS = 16;
const OWN_CONNECT_TIMEOUT_MS = 5_000;
/** A node that is silent for longer is taken for dead; trace_block of a full mainnet block takes a few seconds. */
const OWN_SILENCE_MS = 30_000;
/** Largest answer that is taken in: the traces of the heaviest blocks known stay well below. */
const MAX_OWN_ANSWER_BYTES = 256 * 1024 * 1024;

/** How a client's request is carried out. */
export interface RelayOptions {
  /** Until the answer is whole, or known to be a stream. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** A large answer is given while it arrives. */
  readonly mayStream: boolean;
  readonly room: ArrivalRoom | undefined;
}

/** Limits of what we ask ourselves; left out: those of the traces of a block. */
export interface CallLimits {
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** The one client of a node, over HTTP. Its URL may hold a key or a password, so it appears in no message. */
export class NodeClient {
  /** The node's host and port, to be shown in logs. */
  readonly host: string;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #relayed: Pool;
  readonly #own: Pool;
  #relayedInFlight = 0;
  /** Not every node does, nor every proxy before one. */
  #takesBatches = true;

  constructor(url: string) {
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
    this.#own = new Pool(origin, {
      connections: OWN_CONNECTIONS,
      connect: { timeout: OWN_CONNECT_TIMEOUT_MS },
      headersTimeout: OWN_SILENCE_MS,
      bodyTimeout: OWN_SILENCE_MS,
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#relayed.destroy(), this.#own.destroy()]);
  }

  /** Sends a client's request, as it is. */
  relay(body: string, options: RelayOptions): PendingAnswer {
    const answer = new AnswerCollector(this.host, options, () => this.#relayedInFlight--);
    if (this.#relayedInFlight++ >= RELAY_CONNECTIONS) answer.waitsForPlace();
    this.#relayed.dispatch({ path: this.#path, method: 'POST', headers: this.#headers, body }, answer);
    return answer;
  }

  /** The result of one call. Rejects with NodeError; a node's own error is one of reason `refused`. */
  async call(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const [response] = await this.batch([[method, ...params]]);
    return resultOf(method, response);
  }

  /** The responses to several calls, in their order, in one request where the node takes batches. Rejects with NodeError. */
  async batch(calls: readonly NodeCall[], limits?: CallLimits): Promise<RpcResponse[]> {
    if (calls.length > 1 && !this.#takesBatches) return this.#oneByOne(calls, limits);
    const requests = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));
    const body = await this.#post(requests.length === 1 ? requests[0] : requests, limits);
    if (calls.length > 1 && refusesBatch(body)) {
      this.#takesBatches = false;
      return this.#oneByOne(calls, limits);
    }
    return readResponses(body, calls, this.host);
  }

  async #oneByOne(calls: readonly NodeCall[], limits: CallLimits | undefined): Promise<RpcResponse[]> {
    const responses = await Promise.all(calls.map((call) => this.batch([call], limits)));
    return responses.flat();
  }

  async #post(request: unknown, { timeoutMs, maxBytes = MAX_OWN_ANSWER_BYTES }: CallLimits = {}) {
    const options: CollectOptions = { timeoutMs, maxBytes, readsNotFound: true };
    const answer = new AnswerCollector(this.host, options, () => undefined);
    const body = JSON.stringify(request);
    this.#own.dispatch({ path: this.#path, method: 'POST', headers: this.#headers, body }, answer);
    const arrived = await answer.body;
    if (arrived.kind === 'stream') throw new NodeError('oversized', `${this.host} answered with a stream`);
    return parseBody(arrived.bytes, arrived.status, this.host);
  }
}
