import { inBackground } from '../../../../platform/background/index.ts';
import {
  AcceptedCodings,
  type Coding,
  CpuHeadroom,
  compressed,
  compressor,
} from '../../../../platform/contentCoding/index.ts';
import type { TrackedResponse } from '../../../../platform/http/index.ts';
import type { CounterSeries } from '../../../../platform/metrics/index.ts';
import type { HttpAnswer, ResultStream } from '../../../jsonrpc/index.ts';
import { bytesOf, joined, pipe, respond } from '../respond.ts';

/** Minimum size of a response to compress, in bytes. A smaller response fits into one packet uncompressed. */
const MIN_BYTES = 1_024;
/**
 * Maximum number of concurrent compressions. libuv has four threads for compression and files; two stay free for
 * files.
 */
const MAX_AT_ONCE = 2;
/** Maximum number of concurrent compressed streams. Each uses up to 1 MB, and mostly waits for its node or client. */
const MAX_STREAMS = 8;
/** Maximum number of response parts to compress one by one. A batch has many small parts, which are joined first. */
const MAX_PARTS_APART = 3;

/** `busy`: the response was sent uncompressed, because no processor time or no compression slot was free. */
export type CompressionResult = 'compressed' | 'busy';

export interface Recipient {
  readonly response: TrackedResponse;
  /** Names and values of the response headers, alternating. */
  readonly headers: string[];
  readonly accepts: string;
}

/** Compresses responses only while processor time is free. Otherwise sends them uncompressed without delay. */
export class AnswerCompression {
  readonly #accepted = new AcceptedCodings();
  readonly #spare: Pick<CpuHeadroom, 'isAvailable'>;
  readonly #results: Readonly<Record<CompressionResult, CounterSeries>>;
  #running = 0;
  #streams = 0;

  constructor(
    results: Readonly<Record<CompressionResult, CounterSeries>>,
    spare: Pick<CpuHeadroom, 'isAvailable'> = new CpuHeadroom(),
  ) {
    this.#results = results;
    this.#spare = spare;
  }

  respond(answer: HttpAnswer, to: Recipient): void {
    const { stream, parts } = answer;
    const plain = (): void => respond(to.response, answer, to.headers);
    if (to.response.isFinished || (stream === undefined && bytesOf(parts) < MIN_BYTES)) return plain();
    to.headers.push('vary', 'accept-encoding');
    const coding = this.#accepted.of(to.accepts);
    if (coding === undefined) return plain();
    const isBusy = stream === undefined ? this.#running >= MAX_AT_ONCE : this.#streams >= MAX_STREAMS;
    if (isBusy || !this.#spare.isAvailable) {
      this.#results.busy.inc();
      return plain();
    }
    if (stream !== undefined) return this.#stream(stream, { coding, to, answer });
    inBackground('compressed response', () => this.#whole(coding, answer, to));
  }

  async #whole(coding: Coding, answer: HttpAnswer, to: Recipient): Promise<void> {
    const { response } = to;
    this.#running++;
    const { parts } = answer;
    const whole = parts.length > MAX_PARTS_APART ? [joined(parts)] : parts;
    let charged = 0;
    const chunks = await compressed(coding, whole, (bytes) => {
      const hasRoom = response.charge(bytes);
      if (hasRoom) charged += bytes;
      return hasRoom;
    });
    this.#running--;
    if (chunks === undefined) {
      response.credit(charged);
      return respond(response, answer, to.headers);
    }
    // Releases the uncompressed bytes, because the compressed copy replaces them.
    answer.release?.();
    this.#results.compressed.inc();
    const compressedParts = [Buffer.concat(chunks)];
    // Ends the charge for the uncompressed bytes. The compressed bytes are charged when they are written.
    response.creditAll();
    to.headers.push('content-encoding', coding);
    respond(response, { status: 200, parts: compressedParts }, to.headers);
  }

  #stream(
    stream: ResultStream,
    { coding, to, answer }: { coding: Coding; to: Recipient; answer: HttpAnswer },
  ): void {
    const { response, headers } = to;
    this.#streams++;
    this.#results.compressed.inc();
    const engine = compressor(coding);
    headers.push('content-type', 'application/json', 'content-encoding', coding);
    response.writeHead(answer.status, headers);
    engine.on('error', () => response.destroy());
    engine.pipe(response);
    response.onFinished(() => {
      this.#streams--;
      engine.destroy();
    });
    const [start = '', end = ''] = answer.parts;
    engine.write(start);
    pipe(stream, { into: engine, response, end });
  }
}
