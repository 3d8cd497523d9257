import {
  chunkOf,
  type JsonWriter,
  type ReadDataChunk,
  TRACES_PER_CHUNK,
  writeTrace,
} from '../../../traces/index.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { TracePlace } from '../tables/position.ts';

/** Chunks of a chain that were read, by block and number. */
export class Chunks {
  readonly #chunks: Map<string, Buffer>;

  /** Starts with the chunks of `first`. */
  constructor(first?: Chunks) {
    this.#chunks = new Map(first === undefined ? [] : first.#chunks);
  }

  readonly #readData: ReadDataChunk = (number, chunk) => this.get(number, chunk);

  set(number: number, chunk: number, bytes: Buffer): void {
    this.#chunks.set(keyOf(number, chunk), bytes);
  }

  has(number: number, chunk: number): boolean {
    return this.#chunks.has(keyOf(number, chunk));
  }

  get(number: number, chunk: number): Buffer {
    const bytes = this.#chunks.get(keyOf(number, chunk));
    if (bytes === undefined)
      throw new UnprovenRead(`ClickHouse: chunk ${chunk} of block ${number} is missing`, [number]);
    return bytes;
  }

  /** Returns the chunk that contains a trace. */
  containing({ number, traceIndex }: TracePlace): Buffer {
    const bytes = this.get(number, chunkOf(traceIndex));
    if (traceIndex % TRACES_PER_CHUNK >= (bytes[0] ?? 0))
      throw new UnprovenRead(`ClickHouse: block ${number} has no trace ${traceIndex}`, [number]);
    return bytes;
  }

  /** Returns a function that returns the chunks which contain the traces of a block. */
  reader(number: number): (traceIndex: number) => Buffer {
    return (traceIndex) => this.containing({ number, traceIndex });
  }

  /** Appends a trace to `json`. */
  write(json: JsonWriter, place: TracePlace): void {
    const { number, traceIndex } = place;
    writeTrace(json, this.containing(place), traceIndex % TRACES_PER_CHUNK, number, this.#readData);
  }
}

export const keyOf = (number: number, chunk: number): string => `${number} ${chunk}`;
