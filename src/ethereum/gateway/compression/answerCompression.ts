import {
  AcceptedCodings,
  type Coding,
  compressed,
  compressor,
  deflated,
  gzipAround,
  SpareProcessor,
} from '../../../platform/contentCoding/index.ts';
import type { TrackedResponse } from '../../../platform/http/index.ts';
import type { Tally } from '../../../platform/metrics/index.ts';
import type { HttpAnswer, Part, ResultStream } from '../../jsonrpc/index.ts';
import type { KeptAnswer } from '../cache/keptAnswer.ts';
import { bytesOf, joined, pipe, respond } from '../respond.ts';

/** Smaller answers leave in one packet whatever is done. */
const MIN_BYTES = 1_024;
/** Answers that are compressed at a time. Node has four threads for that and for all files: others than these are left alone. */
const MAX_AT_ONCE = 2;
/** Streams are compressed a piece at a time, and wait for their nodes and clients most of it; each takes up to a megabyte. */
const MAX_STREAMS = 8;
/** More parts are joined, as most of them are small. */
const MAX_PARTS_APART = 3;

/** What came of the wish of a client for a compressed answer. */
export type CompressionResult = 'kept' | 'live' | 'busy';

/** Where an answer goes, and what is known of it. */
export interface Recipient {
  readonly response: TrackedResponse;
  /** Names and values in turn. */
  readonly headers: string[];
  /** The client's Accept-Encoding. */
  readonly accepts: string;
  readonly kept: KeptAnswer | undefined;
}

/**
 * Sends answers compressed to clients that want them so, where that costs others nothing: an answer that is kept is compressed once for
 * all who ask for it, others only while there is processor to spare. What cannot be had at once is sent as it is: nobody waits.
 */
export class AnswerCompression {
  readonly #accepted = new AcceptedCodings();
  readonly #spare: Pick<SpareProcessor, 'hasSome'>;
  readonly #results: Readonly<Record<CompressionResult, Tally>>;
  #running = 0;
  #streams = 0;

  constructor(
    results: Readonly<Record<CompressionResult, Tally>>,
    spare: Pick<SpareProcessor, 'hasSome'> = new SpareProcessor(),
  ) {
    this.#results = results;
    this.#spare = spare;
  }

  respond(answer: HttpAnswer, to: Recipient): void {
    const { stream, parts } = answer;
    const plain = (): void => respond(to.response, answer, to.headers);
    if (to.response.isOver || (stream === undefined && bytesOf(parts) < MIN_BYTES)) return plain();
    to.headers.push('vary', 'accept-encoding');
    const { best, gzip } = this.#accepted.of(to.accepts);
    if (best === undefined) return plain();
    if (stream !== undefined) return this.#stream(stream, { coding: best, to, answer });
    const { kept } = to;
    if (kept !== undefined && gzip && parts.includes(kept.bytes)) return this.#kept(kept, answer, to);
    if (!this.#mayBegin()) return plain();
    void this.#live(best, answer, to);
  }

  #mayBegin(): boolean {
    const may = this.#running < MAX_AT_ONCE && this.#spare.hasSome;
    if (!may) this.#results.busy.inc();
    return may;
  }

  /** From the form that is kept; where there is none yet, this answer waits for it. */
  #kept(kept: KeptAnswer, answer: HttpAnswer, to: Recipient): void {
    if (kept.deflated !== undefined) return this.#around(kept, answer, to);
    if (kept.isBeingDeflated || !this.#mayBegin()) return respond(to.response, answer, to.headers);
    kept.isBeingDeflated = true;
    this.#running++;
    void deflated(kept.bytes)
      .then(
        (form) => kept.keep(form),
        () => undefined, // it is sent as it is
      )
      .then(() => {
        kept.isBeingDeflated = false;
        this.#running--;
        this.#around(kept, answer, to);
      });
  }

  #around(kept: KeptAnswer, answer: HttpAnswer, to: Recipient): void {
    const at = answer.parts.indexOf(kept.bytes);
    const [before, behind] = [answer.parts.slice(0, at), answer.parts.slice(at + 1)].map(textOf);
    const parts = kept.deflated && gzipAround(String(before), kept.deflated, String(behind));
    // It was dropped from its cache meanwhile, or an id is longer than any that a client of ours would send.
    if (parts === undefined) return respond(to.response, answer, to.headers);
    this.#results.kept.inc();
    send(parts, 'gzip', to);
  }

  async #live(coding: Coding, answer: HttpAnswer, to: Recipient): Promise<void> {
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
    // Its bytes are not needed any more.
    answer.release?.();
    this.#results.live.inc();
    send([Buffer.concat(chunks)], coding, to);
  }

  #stream(
    stream: ResultStream,
    { coding, to, answer }: { coding: Coding; to: Recipient; answer: HttpAnswer },
  ): void {
    const { response, headers } = to;
    if (this.#streams >= MAX_STREAMS || !this.#spare.hasSome) {
      this.#results.busy.inc();
      return respond(response, answer, headers);
    }
    this.#streams++;
    this.#results.live.inc();
    const engine = compressor(coding);
    headers.push('content-type', 'application/json', 'content-encoding', coding);
    response.writeHead(answer.status, headers);
    engine.on('error', () => response.destroy());
    engine.pipe(response);
    response.whenOver(() => {
      this.#streams--;
      engine.destroy();
    });
    const [start = '', end = ''] = answer.parts;
    engine.write(start);
    pipe(stream, { into: engine, response, end });
  }
}

const textOf = (parts: readonly Part[]): string => parts.map((part) => part.toString()).join('');

/** Sends what an answer has become; only these bytes count from here on. */
function send(parts: readonly Buffer[], coding: Coding, { response, headers }: Recipient): void {
  response.holdOnly(parts);
  headers.push('content-encoding', coding);
  respond(response, { status: 200, parts }, headers);
}
