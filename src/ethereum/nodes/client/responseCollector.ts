import type { Dispatcher } from 'undici';
import { awaitedLater } from '../../../platform/background/index.ts';
import { connectionError } from './connectionError.ts';
import { refusalText } from './nodeAddress.ts';
import type { Budget } from './nodeBudget.ts';
import { HttpStatusError, NodeBusyError, NodeError } from './nodeError.ts';
import { OversizedRequestError, OversizedResponseError } from './requestFault.ts';
import { type ReceiveReservation, ResponseQuotaError } from './responseQuota.ts';
import { ResponseStream } from './responseStream.ts';

/** Number of bytes at a response's start that are not charged. The number of connections bounds this memory. */
const FREE_BYTES = 64 * 1024;
/** Number of copies of a response in memory while it is read: the received chunks, then also their concatenation. */
const COPIES = 2;
/** Interval at which a request that waits for a connection asks to free one whose client does not read. */
const FREE_CONNECTION_EVERY_MS = 1_000;
/** Maximum pause after a response with status 429, even if its Retry-After header asks for a longer one. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Body of a node's HTTP response: the complete bytes, or a stream whose start has been received. */
export type NodeBody =
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly status: number }
  | { readonly kind: 'stream'; readonly stream: ResponseStream };

export interface CollectOptions {
  /** Maximum time until the response is complete, or until its stream starts. Default: the connection's timeouts. */
  readonly timeoutMs?: number | undefined;
  readonly maxBytes: number;
  /** Number of bytes above which the response is returned as a stream. Default: every response is read whole. */
  readonly streamAboveBytes?: number | undefined;
  /** Accepts a JSON-RPC response with HTTP status 404, as some providers send it for a method they do not support. */
  readonly readsNotFound?: boolean;
  readonly reservation?: ReceiveReservation | undefined;
  readonly budget?: Budget | undefined;
}

/** A node's response that is still being received. */
export interface PendingResponse {
  /** Resolves when the response is complete, or when its stream starts. Rejects with NodeError. */
  readonly body: Promise<NodeBody>;
  abort(): void;
}

export class ResponseCollector implements Dispatcher.DispatchHandler, PendingResponse {
  readonly body: Promise<NodeBody>;
  readonly #host: string;
  readonly #options: CollectOptions;
  /** Called when the request has ended, so that its connection is free again, or that it no longer waits for one. */
  readonly #ended: () => void;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #status = 0;
  #controller: Dispatcher.DispatchController | undefined;
  #stream: ResponseStream | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wanting: NodeJS.Timeout | undefined;
  #isWaiting = false;
  #sent = false;
  #gaveUp: NodeError | undefined;
  #resolve: (body: NodeBody) => void = () => undefined;
  #reject: (error: NodeError) => void = () => undefined;

  constructor(host: string, options: CollectOptions, ended: () => void) {
    this.#host = host;
    this.#ended = ended;
    this.#options = options;
    this.body = awaitedLater(
      new Promise<NodeBody>((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      }),
    );
    const { timeoutMs } = options;
    if (timeoutMs === undefined) return;
    this.#timer = setTimeout(() => {
      this.#giveUp(new NodeError('timeout', `${host} did not answer within ${timeoutMs} ms`));
    }, timeoutMs);
  }

  /** To be called if the request must wait for a connection. Asks repeatedly to free one, until `hasConnection`. */
  waitForConnection(): void {
    this.#isWaiting = true;
    const { reservation } = this.#options;
    if (reservation === undefined) return;
    reservation.freeConnection();
    this.#wanting = setInterval(() => reservation.freeConnection(), FREE_CONNECTION_EVERY_MS);
  }

  /** To be called before the request is sent. */
  hasConnection(): void {
    this.#isWaiting = false;
    clearInterval(this.#wanting);
  }

  abort(): void {
    this.#giveUp(new NodeError('timeout', `the request to ${this.#host} was aborted`));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#sent = true;
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
    else if (this.#isRefusal(status))
      this.#giveUp(new HttpStatusError(refusalText(this.#host, status), status));
    const length = Number(headers['content-length'] ?? 0);
    if (length > this.#options.maxBytes) this.#giveUpOversized();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#options.budget?.takeBytes(chunk.length);
    if (this.#stream !== undefined) return this.#stream.receive(chunk);
    const { maxBytes, reservation, streamAboveBytes = Number.POSITIVE_INFINITY } = this.#options;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytes) this.#giveUpOversized();
    else if (this.#bytes > FREE_BYTES && reservation?.charge(COPIES * chunk.length) === false)
      this.#giveUp(new ResponseQuotaError(this.#host));
    else if (this.#bytes > streamAboveBytes) {
      clearTimeout(this.#timer);
      this.#stream = new ResponseStream(this.#chunks.splice(0), controller, {
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
    this.#giveUp(new OversizedResponseError(this.#host, this.#options.maxBytes));
  }

  #giveUp(error: NodeError): void {
    clearTimeout(this.#timer);
    clearInterval(this.#wanting);
    this.#gaveUp ??= error;
    this.#reject(this.#gaveUp);
    // A waiting request is never sent, so no event ends it.
    if (this.#isWaiting) this.#ended();
    this.#controller?.abort(this.#gaveUp);
  }
}

function pauseOf(headers: Record<string, string | string[] | undefined>): number {
  const seconds = Number(headers['retry-after'] ?? 1);
  return Math.min(MAX_RETRY_AFTER_MS, (Number.isFinite(seconds) && seconds > 0 ? seconds : 1) * 1_000);
}
