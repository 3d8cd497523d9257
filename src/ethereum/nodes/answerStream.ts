import type { Dispatcher } from 'undici';
import { NodeError } from './nodeError.ts';
import { OversizedAnswerError } from './requestFault.ts';

/** Takes a stream in; `write` tells with false that no more is wanted until `resume` of the stream is called. */
export interface AnswerSink {
  write(chunk: Buffer): boolean;
  end(): void;
  fail(error: NodeError): void;
}

/** A node that stops in the middle of an answer for this long is given up. */
const IDLE_TIMEOUT_MS = 30_000;

/** A large answer while it arrives. Nothing more is read from the node while the sink wants no more. */
export class AnswerStream {
  /** What has arrived before it was known to be large. */
  readonly start: readonly Buffer[];
  readonly #controller: Dispatcher.DispatchController;
  /** Of the node. */
  readonly host: string;
  readonly #maxBytes: number;
  #bytes: number;
  #sink: AnswerSink | undefined;
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

  /** Sends everything to the sink, the start included, as fast as it wants it. */
  pipe(sink: AnswerSink): void {
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
      this.#controller.abort(new NodeError('timeout', `the answer of ${this.host} is not wanted any more`));
  }

  /** For the connection: a chunk has arrived. */
  receive(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      this.#controller.abort(new OversizedAnswerError(this.host, this.#maxBytes));
      return;
    }
    if (this.#sink === undefined || this.#sink.write(chunk)) return this.#watch();
    clearTimeout(this.#idle);
    this.#controller.pause();
  }

  /** For the connection: the answer is complete. */
  end(): void {
    clearTimeout(this.#idle);
    this.#ended = true;
    this.#sink?.end();
  }

  /** For the connection: the answer broke off. */
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
        new NodeError('timeout', `${this.host} stopped in the middle of an answer for ${IDLE_TIMEOUT_MS} ms`),
      );
    }, IDLE_TIMEOUT_MS);
  }
}
