import { type Dispatcher, Pool } from 'undici';
import { type ArrivalRoom, NoRoomError } from './answerRoom.ts';
import { AnswerStream } from './answerStream.ts';
import { nodeAddress, refusalText } from './nodeAddress.ts';
import { OversizedAnswerError, OversizedRequestError } from './requestFault.ts';
import { NodeError } from './source.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/** Requests to one node at a time; more wait for a free connection. Nodes serve some dozens at once well. */
const CONNECTIONS = 64;
/** Answers above this are passed on while they arrive; below, they are read whole, checked and may be cached. */
export const STREAM_THRESHOLD_BYTES = 1024 * 1024;
/** So much of an answer needs no room: as many arrive at a time as there are connections. */
const FREE_BYTES = 64 * 1024;
/** A whole answer is in memory twice while it is read: in the pieces in which it came, and in one. */
const COPIES = 2;
/** Who waits for a connection asks this often for one that is held for a client that does not read. */
const WANT_PLACE_EVERY_MS = 1_000;
/** A node that asks for a pause gets one, of at most this. */
const MAX_RETRY_AFTER_MS = 60_000;

/** The body of a node's HTTP answer: whole, or a stream of which the start has arrived. */
export type NodeBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'stream'; readonly stream: AnswerStream };

export interface PostOptions {
  /** Until the answer is whole, or known to be a stream. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** An answer above STREAM_THRESHOLD_BYTES is given while it arrives; otherwise it is read whole. */
  readonly mayStream: boolean;
  readonly room?: ArrivalRoom | undefined;
}

export interface Exchange {
  /** Rejects with NodeError. */
  readonly body: Promise<NodeBody>;
  /** Gives the exchange up; nothing of it arrives any more. */
  abort(): void;
}

/** HTTP 429: the node is alive, and wants fewer requests. */
export class NodeBusyError extends NodeError {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super('refused', message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The HTTP side of one node. Its URL may hold a key or a password, so it appears in no message. */
export class NodeConnection {
  /** The node's host and port, to be shown in logs. */
  readonly host: string;
  readonly #path: string;
  readonly #headers: Record<string, string>;
  readonly #pool: Pool;
  #inUse = 0;

  constructor(url: string) {
    const { origin, host, path, headers } = nodeAddress(url);
    this.host = host;
    this.#path = path;
    this.#headers = headers;
    this.#pool = new Pool(origin, {
      connections: CONNECTIONS,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      // Times are kept by `post`, to the request's own deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** Sends a body. */
  post(body: string, options: PostOptions): Exchange {
    const answer = new AnswerCollector(this.host, options, () => this.#inUse--);
    if (this.#inUse++ >= CONNECTIONS) answer.waitsForPlace();
    this.#pool.dispatch({ path: this.#path, method: 'POST', headers: this.#headers, body }, answer);
    return answer;
  }
}

/** Collects one answer. */
class AnswerCollector implements Dispatcher.DispatchHandler, Exchange {
  readonly body: Promise<NodeBody>;
  readonly #host: string;
  readonly #options: PostOptions;
  /** To be called when its connection is free again. */
  readonly #ended: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #stream: AnswerStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wanting: NodeJS.Timeout | undefined;
  #sent = false;
  #gaveUp: NodeError | undefined;
  #resolve: (body: NodeBody) => void = () => undefined;
  #reject: (error: NodeError) => void = () => undefined;

  constructor(host: string, options: PostOptions, ended: () => void) {
    this.#host = host;
    this.#ended = ended;
    this.#options = options;
    this.body = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => {
      this.#giveUp(new NodeError('timeout', `${host} did not answer within ${options.timeoutMs} ms`));
    }, options.timeoutMs);
  }

  /** All connections are in use. */
  waitsForPlace(): void {
    const { room } = this.#options;
    if (room === undefined) return;
    room.givePlace();
    this.#wanting = setInterval(() => room.givePlace(), WANT_PLACE_EVERY_MS);
  }

  abort(): void {
    this.#giveUp(new NodeError('timeout', `the request to ${this.#host} was given up`));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#sent = true;
    clearInterval(this.#wanting);
    if (this.#gaveUp !== undefined) controller.abort(this.#gaveUp);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status === 429)
      this.#giveUp(new NodeBusyError(`${this.#host} asks for a pause (429)`, pauseOf(headers)));
    else if (status === 413) this.#giveUp(new OversizedRequestError(this.#host));
    else if (status >= 500 || (status >= 300 && status < 400) || status === 401 || status === 404)
      this.#giveUp(new NodeError('refused', refusalText(this.#host, status)));
    const length = Number(headers['content-length'] ?? 0);
    if (length > this.#options.maxBytes) this.#giveUpOversized();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream !== undefined) return this.#stream.receive(chunk);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.maxBytes) this.#giveUpOversized();
    else if (this.#bytes > FREE_BYTES && this.#options.room?.charge(COPIES * chunk.length) === false)
      this.#giveUp(new NoRoomError(this.#host));
    else if (this.#options.mayStream && this.#bytes > STREAM_THRESHOLD_BYTES) {
      clearTimeout(this.#timer);
      this.#stream = new AnswerStream(this.#chunks.splice(0), controller, this.#host, this.#options);
      this.#resolve({ kind: 'stream', stream: this.#stream });
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    this.#ended();
    if (this.#stream !== undefined) return this.#stream.end();
    const [only = Buffer.alloc(0)] = this.#chunks;
    this.#resolve({
      kind: 'whole',
      bytes: this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#bytes),
    });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer);
    clearInterval(this.#wanting);
    this.#ended();
    const failure = this.#gaveUp ?? asNodeError(error, this.#host, this.#sent);
    this.#stream?.fail(failure);
    this.#reject(failure);
  }

  #giveUpOversized(): void {
    this.#giveUp(new OversizedAnswerError(this.#host, this.#options.maxBytes));
  }

  #giveUp(error: NodeError): void {
    clearTimeout(this.#timer);
    clearInterval(this.#wanting);
    this.#gaveUp ??= error;
    this.#reject(this.#gaveUp);
    this.#controller?.abort(this.#gaveUp);
  }
}

/** Codes of connections that were never made: the node cannot have seen the request. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The node cannot have seen the request: it may be sent to another one whatever it was. */
export const neverSent = (error: unknown): boolean => error instanceof NodeError && NOT_SENT.has(error);
const NOT_SENT = new WeakSet<NodeError>();

function asNodeError(error: Error, host: string, sent: boolean): NodeError {
  // A stream was broken off from here, with the reason.
  if (error instanceof NodeError) return error;
  const code = 'code' in error ? String(error.code) : error.name;
  const failure = new NodeError('unreachable', `${host} cannot be reached or broke off (${code})`, {
    cause: error,
  });
  if (!sent || NEVER_SENT.has(code)) NOT_SENT.add(failure);
  return failure;
}

function pauseOf(headers: Record<string, string | string[] | undefined>): number {
  const seconds = Number(headers['retry-after'] ?? 1);
  return Math.min(MAX_RETRY_AFTER_MS, (Number.isFinite(seconds) && seconds > 0 ? seconds : 1) * 1_000);
}
