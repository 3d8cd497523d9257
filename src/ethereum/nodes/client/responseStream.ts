import type { Dispatcher } from 'undici';
import { NodeError } from './nodeError.ts';
import { OversizedResponseError } from './requestFault.ts';

/** Destination of a stream. If `write` returns false, the stream pauses until its `resume` is called. */
export interface ResponseSink {
  write(chunk: Buffer): boolean;
  end(): void;
  fail(error: NodeError): void;
}

/** Time without data from the node after which its response is aborted. */
const IDLE_TIMEOUT_MS = 30_000;

/** A large response that is passed to a sink while it is received. Reading pauses while the sink accepts no data. */
export class ResponseStream {
  /** Bytes that were received before the response was known to be large. */
  readonly start: readonly Buffer[];
  readonly #controller: Dispatcher.DispatchController;
  readonly host: string;
  readonly #maxBytes: number;
  #bytes: number;
  #sink: ResponseSink | undefined;
  #idle: NodeJS.Timeout | undefined;
  #ended = false;
  #failure: NodeError | undefined;

  constructor(
    start: readonly Buffer[],
    controller: Dispatcher.DispatchController,
    { host, maxBytes }: { readonly host: string; readonly maxBytes: number },
  ) {
    this.start = start;
    this.#controller = controller;
    this.host = host;
    this.#maxBytes = maxBytes;
    this.#bytes = start.reduce((sum, { length }) => sum + length, 0);
    controller.pause();
  }

  /** Passes the whole response, including `start`, to the sink. Pauses when the sink accepts no more data. */
  pipe(sink: ResponseSink): void {
    this.#sink = sink;
    let wantsMore = true;
    for (const chunk of this.start) wantsMore = sink.write(chunk);
    if (this.#failure !== undefined) sink.fail(this.#failure);
    else if (this.#ended) sink.end();
    else if (wantsMore) this.resume();
  }

  resume(): void {
    this.#watch();
    this.#controller.resume();
  }

  abort(): void {
    clearTimeout(this.#idle);
    if (!this.#ended)
      this.#controller.abort(new NodeError('timeout', `the response of ${this.host} is no longer needed`));
  }

  receive(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.#controller.abort(new OversizedResponseError(this.host, this.#maxBytes));
      return;
    }
    if (this.#sink === undefined || this.#sink.write(chunk)) return this.#watch();
    clearTimeout(this.#idle);
    this.#controller.pause();
  }

  end(): void {
    clearTimeout(this.#idle);
    this.#ended = true;
    this.#sink?.end();
  }

  fail(error: NodeError): void {
    clearTimeout(this.#idle);
    this.#failure = error;
    this.#sink?.fail(error);
  }

  #watch(): void {
    if (this.#idle !== undefined) {
      this.#idle.refresh();
      return;
    }
    this.#idle = setTimeout(() => {
      this.#controller.abort(
        new NodeError(
          'timeout',
          `${this.host} sent no data for ${IDLE_TIMEOUT_MS} ms in the middle of a response`,
        ),
      );
    }, IDLE_TIMEOUT_MS);
  }
}
