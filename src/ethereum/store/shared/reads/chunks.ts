import { type ReadDataChunk, TRACES_PER_CHUNK } from '../../../traces/index.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { TracePosition } from '../tables/position.ts';

/** Chunks of a chain that were read, by block and number. */
export class Chunks {
  readonly #chunks: Map<string, Buffer>;

  /** Starts with the chunks of `first`. */
  constructor(first?: Chunks) {
    this.#chunks = new Map(first === undefined ? [] : first.#chunks);
  }

  readonly readData: ReadDataChunk = (number, chunk) => this.get(number, chunk);

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
  containing({ number, traceIndex }: Omit<TracePosition, 'write'>): Buffer {
    const bytes = this.get(number, Math.floor(traceIndex / TRACES_PER_CHUNK));
    if (traceIndex % TRACES_PER_CHUNK >= (bytes[0] ?? 0))
      throw new UnprovenRead(`ClickHouse: block ${number} has no trace ${traceIndex}`, [number]);
    return bytes;
  }
}

export const keyOf = (number: number, chunk: number): string => `${number} ${chunk}`;
