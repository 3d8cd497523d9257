import type { ResultSink, ResultStream } from '../../jsonrpc/index.ts';
import { NodeError, type ResponseSink, type ResponseStream, ResultSpan } from '../../nodes/index.ts';

/** Matches the text after the result in a node's response: the members `id` and `jsonrpc`, and the closing brace. */
const REST = /^\s*(?:,\s*"(?:id|jsonrpc)"\s*:\s*(?:\d+|"2\.0")\s*)*\}\s*$/;
/** Maximum number of bytes after the result in a node's response. */
const MAX_REST_BYTES = 256;

/** Extracts the result from a large response while it arrives. Undefined if the first chunk contains no result. */
export function resultStream(answer: ResponseStream): ResultStream | undefined {
  const [first] = answer.start;
  const start = first === undefined ? undefined : ResultSpan.find(first);
  if (start === undefined || first === undefined || start >= first.length) return undefined;
  return {
    pipe: (sink) => answer.pipe(new ResultCutter(start, sink, answer)),
    resume: () => answer.resume(),
    abort: () => answer.abort(),
  };
}

class ResultCutter implements ResponseSink {
  readonly #span = new ResultSpan();
  readonly #sink: ResultSink;
  readonly #answer: ResponseStream;
  #skip: number;
  #rest: Buffer | undefined;
  #failed = false;

  constructor(skip: number, sink: ResultSink, answer: ResponseStream) {
    this.#skip = skip;
    this.#sink = sink;
    this.#answer = answer;
  }

  write(chunk: Buffer): boolean {
    if (this.#failed) return true;
    const piece = this.#skip === 0 ? chunk : chunk.subarray(this.#skip);
    this.#skip = 0;
    if (this.#rest !== undefined) return this.#keepRest(piece);
    const length = this.#span.feed(piece);
    if (length === undefined) return this.#sink.write(piece);
    this.#rest = Buffer.alloc(0);
    this.#keepRest(piece.subarray(length));
    return length === 0 || this.#sink.write(piece.subarray(0, length));
  }

  end(): void {
    if (this.#failed) return;
    if (this.#rest !== undefined && REST.test(this.#rest.toString('latin1'))) this.#sink.end();
    else
      this.fail(new NodeError('nonsense', `${this.#answer.host} sent a large response with an invalid end`));
  }

  fail(error: Error): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#sink.fail(error);
  }

  #keepRest(piece: Buffer): boolean {
    this.#rest = Buffer.concat([this.#rest ?? Buffer.alloc(0), piece]);
    if (this.#rest.length > MAX_REST_BYTES) {
      this.fail(new NodeError('nonsense', `${this.#answer.host} sent unexpected data after a large result`));
      this.#answer.abort();
    }
    return true;
  }
}
