import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { BudgetClient } from '../budgets/index.ts';
import { RejectionCounter } from './rejectionCounter.ts';

export interface QueuedResponse {
  readonly req: IncomingMessage;
  readonly statusCode: number;
  shouldKeepAlive: boolean;
}

export interface RequestSequencer<Response extends QueuedResponse> {
  enqueue(response: Response): void;
  /** Called when the client received the whole response or has disconnected. */
  onFinished(response: Response): void;
  /** Called when received bytes are not HTTP. Calls `close` once, after all earlier requests were answered. */
  onMalformed(close: () => void): void;
  closed(): void;
  /** Called when the connection was upgraded, as for WebSockets. Returns whether all requests were answered. */
  upgraded(): boolean;
}

export interface RequestQueueDependencies<Response extends QueuedResponse> {
  /** Runs work in a later time slice of the client of a request. */
  readonly defer: (request: IncomingMessage, work: () => void) => void;
  readonly handle: (response: Response) => void;
  /** Returns the client of a request. The connection of a proxy has several. */
  readonly clientOf: (request: IncomingMessage) => BudgetClient;
}

/** If this number of requests wait, the socket is paused. More may wait: node:http parses reads of up to 64 KiB. */
const MAX_WAITING = 16;

/**
 * The requests of one connection: one is processed at a time, and pipelined ones wait. Requests that arrived in one
 * read are spread over several time slices, between which other connections are served.
 */
export class RequestQueue<Response extends QueuedResponse> implements RequestSequencer<Response> {
  readonly #socket: Socket;
  readonly #defer: RequestQueueDependencies<Response>['defer'];
  readonly #handle: (response: Response) => void;
  readonly #clientOf: RequestQueueDependencies<Response>['clientOf'];
  /** Address of the client of the last request. */
  #client: string | undefined;
  /** Counts rejected requests of this client only, because the connection must stay open for other clients. */
  #rejections = new RejectionCounter();
  #active: Response | undefined;
  /** The most recent request, whose body may be incomplete. */
  #latest: Response | undefined;
  readonly #waiting: Response[] = [];
  /** Value of `socket.bytesRead` when the last request was parsed. */
  #bytesRead = 0;
  /** Answers bytes that are not HTTP and closes the connection. Undefined until such bytes arrive. */
  #close: (() => void) | undefined;

  constructor(socket: Socket, { defer, handle, clientOf }: RequestQueueDependencies<Response>) {
    this.#socket = socket;
    this.#defer = defer;
    this.#handle = handle;
    this.#clientOf = clientOf;
    socket.on('resume', this.#resumed);
  }

  enqueue(response: Response): void {
    // No further request is processed after a response with `Connection: close`.
    if (this.#socket.writableEnded) return;
    const { bytesRead } = this.#socket;
    const isOfLastRead = bytesRead === this.#bytesRead;
    this.#bytesRead = bytesRead;
    this.#latest = response;
    if (!isOfLastRead && this.#isAnswered) return this.#activate(response);
    if (this.#waiting.push(response) >= MAX_WAITING) this.#socket.pause();
    if (this.#active === undefined) this.#continue();
  }

  onFinished(response: Response): void {
    if (response !== this.#active) return;
    this.#active = undefined;
    this.#rejections.count(response.statusCode);
    if (this.#waiting.length > 0) this.#continue();
    this.#closeIfAnswered();
  }

  onMalformed(close: () => void): void {
    if (this.#close !== undefined) return;
    this.#close = close;
    // Nothing after the error is parsed, so an incomplete body of the last request will never be complete.
    if (this.#latest?.req.complete === false) {
      if (this.#active === this.#latest) this.#active = undefined;
      else this.#waiting.pop();
    }
    this.#closeIfAnswered();
  }

  closed(): void {
    this.#active = undefined;
    this.#waiting.length = 0;
  }

  upgraded(): boolean {
    const isAnswered = this.#isAnswered;
    this.#socket.off('resume', this.#resumed);
    this.closed();
    return isAnswered;
  }

  #continue(): void {
    const [next] = this.#waiting;
    if (next !== undefined) this.#defer(next.req, () => this.#handleNext());
  }

  #handleNext(): void {
    // No further request is processed after a response with `Connection: close`.
    if (this.#socket.destroyed || this.#socket.writableEnded) return this.closed();
    if (this.#active !== undefined) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    if (this.#waiting.length === MAX_WAITING - 1) this.#socket.resume();
    this.#activate(next);
  }

  #activate(response: Response): void {
    this.#active = response;
    const { address } = this.#clientOf(response.req);
    if (address !== this.#client) {
      this.#client = address;
      this.#rejections = new RejectionCounter();
    }
    if (this.#rejections.limitReached) response.shouldKeepAlive = false;
    this.#handle(response);
  }

  get #isAnswered(): boolean {
    return this.#active === undefined && this.#waiting.length === 0;
  }

  #closeIfAnswered(): void {
    if (this.#isAnswered) this.#close?.();
  }

  /** Pauses the socket again if too many requests wait: node:http resumes it after messages and body reads. */
  readonly #resumed = (): void => {
    if (this.#waiting.length < MAX_WAITING) return;
    this.#socket.pause();
    // The `pause` event makes node:http stop reading. A socket that is already paused does not emit the event again.
    this.#socket.emit('pause');
  };
}
