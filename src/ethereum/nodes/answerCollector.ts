import type { Dispatcher } from 'undici';
import { type ArrivalRoom, NoRoomError } from './answerRoom.ts';
import { AnswerStream } from './answerStream.ts';
import { connectionError } from './connectionError.ts';
import { refusalText } from './nodeAddress.ts';
import type { Budget } from './nodeBudget.ts';
import { NodeBusyError, NodeError } from './nodeError.ts';
import { OversizedAnswerError, OversizedRequestError } from './requestFault.ts';

/** Answers above this are passed on while they arrive; below, they are read whole, checked and may be cached. */
const STREAM_THRESHOLD_BYTES = 1024 * 1024;
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
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly status: number }
  | { readonly kind: 'stream'; readonly stream: AnswerStream };

export interface CollectOptions {
  /** Until the answer is whole, or known to be a stream. Left out: the connection's own limits apply. */
  readonly timeoutMs?: number | undefined;
  readonly maxBytes: number;
  /** An answer above STREAM_THRESHOLD_BYTES is given while it arrives; otherwise it is read whole. */
  readonly mayStream?: boolean;
  /** HTTP 404 may carry a JSON-RPC answer: some providers say so of a method that they do not have. */
  readonly readsNotFound?: boolean;
  readonly room?: ArrivalRoom | undefined;
  /** What arrives is taken from it. */
  readonly budget?: Budget | undefined;
}

/** An answer that has not arrived yet. */
export interface PendingAnswer {
  /** Rejects with NodeError. */
  readonly body: Promise<NodeBody>;
  /** Gives it up; nothing of it arrives any more. */
  abort(): void;
}

/** Collects the answer to one request. */
export class AnswerCollector implements Dispatcher.DispatchHandler, PendingAnswer {
  readonly body: Promise<NodeBody>;
  readonly #host: string;
  readonly #options: CollectOptions;
  /** To be called when its connection is free again. */
  readonly #ended: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #stream: AnswerStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wanting: NodeJS.Timeout | undefined;
  #sent = false;
  #gaveUp: NodeError | undefined;
  #resolve: (body: NodeBody) => void = () => undefined;
  #reject: (error: NodeError) => void = () => undefined;

  constructor(host: string, options: CollectOptions, ended: () => void) {
    this.#host = host;
    this.#ended = ended;
    this.#options = options;
    this.body = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const { timeoutMs } = options;
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#giveUp(new NodeError('timeout', `${host} did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
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
    this.#status = status;
    if (status === 429) this.#giveUp(new NodeBusyError(refusalText(this.#host, status), pauseOf(headers)));
    else if (status === 413) this.#giveUp(new OversizedRequestError(this.#host));
    else if (this.#isRefusal(status)) this.#giveUp(new NodeError('refused', refusalText(this.#host, status)));
    const length = Number(headers['content-length'] ?? 0);
    if (length > this.#options.maxBytes) this.#giveUpOversized();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#options.budget?.takeBytes(chunk.length);
    if (this.#stream !== undefined) return this.#stream.receive(chunk);
    const { maxBytes, room, mayStream } = this.#options;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) this.#giveUpOversized();
    else if (this.#bytes > FREE_BYTES && room?.charge(COPIES * chunk.length) === false)
      this.#giveUp(new NoRoomError(this.#host));
    else if (mayStream === true && this.#bytes > STREAM_THRESHOLD_BYTES) {
      clearTimeout(this.#timer);
      this.#stream = new AnswerStream(this.#chunks.splice(0), controller, {
        host: this.#host,
        maxBytes,
      });
      this.#resolve({ kind: 'stream', stream: this.#stream });
    }
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    this.#ended();
    if (this.#stream !== undefined) return this.#stream.end();
    const [only = Buffer.alloc(0)] = this.#chunks;
    const bytes = this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#bytes);
    this.#resolve({ kind: 'whole', bytes, status: this.#status });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer);
    clearInterval(this.#wanting);
    this.#ended();
    const failure = this.#gaveUp ?? connectionError(error, this.#host, this.#sent);
    this.#stream?.fail(failure);
    this.#reject(failure);
  }

  #isRefusal(status: number): boolean {
    if (status === 404) return this.#options.readsNotFound !== true;
    return status >= 500 || (status >= 300 && status < 400) || status === 401;
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

function pauseOf(headers: Record<string, string | string[] | undefined>): number {
  const seconds = Number(headers['retry-after'] ?? 1);
  return Math.min(MAX_RETRY_AFTER_MS, (Number.isFinite(seconds) && seconds > 0 ? seconds : 1) * 1_000);
}
