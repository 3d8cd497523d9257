import { createHash } from 'node:crypto';
import type { Data, Trace } from '../trace.ts';

/** Minimum length of a string that may be stored in a data chunk: `0x` and the hex digits of 256 bytes. */
export const MIN_SHARED_CHARS = 2 + 2 * 256;
/**
 * Minimum number of hex digits that a data chunk must save in a block (64 KiB of data). Compression handles smaller
 * repetitions well, and without a second read.
 */
const MIN_SAVED_CHARS = 2 * 64 * 1024;

/** Whether a string of `chars` characters that occurs `count` times in a block is stored in a data chunk. */
export const isShared = (chars: number, count: number): boolean =>
  chars >= MIN_SHARED_CHARS && (count - 1) * chars >= MIN_SAVED_CHARS;

interface Known {
  count: number;
  /** Number of the data chunk with this string; undefined if no data chunk is assigned yet. */
  chunk: number | undefined;
}

/** Finds the inputs and outputs that a block repeats often, and assigns a data chunk to each of them. */
export class RepeatedData {
  /** For each length, the number of strings. In most blocks no length occurs often enough, so no string is hashed. */
  readonly #lengths = new Map<number, number>();
  /** Strings by their hash, because comparing many long strings that differ only at the end would be slow. */
  readonly #byHash = new Map<string, Known>();
  readonly #firstChunk: number;
  readonly #chunks: Data[] = [];
  /** The string that was looked up last, because a frame often repeats the data of the previous frame. */
  #last: { readonly text: Data; readonly known: Known } | undefined;

  /** @param firstChunk number of the first data chunk: the number of chunks with traces. */
  constructor(traces: readonly Trace[], firstChunk: number) {
    this.#firstChunk = firstChunk;
    for (const trace of traces) {
      this.#countLength(inputOf(trace));
      this.#countLength(outputOf(trace));
    }
    for (const [length, count] of this.#lengths) if (!isShared(length, count)) this.#lengths.delete(length);
    if (this.isEmpty) return;
    for (const trace of traces) {
      this.#count(inputOf(trace));
      this.#count(outputOf(trace));
    }
  }

  /** True if the block needs no data chunks. Most blocks need none. */
  get isEmpty(): boolean {
    return this.#lengths.size === 0;
  }

  get chunks(): readonly Data[] {
    return this.#chunks;
  }

  /** Returns the number of the data chunk for `data`; undefined if `data` is stored in the record of its trace. */
  chunkOf(data: Data | undefined): number | undefined {
    if (!this.#mayRepeat(data)) return undefined;
    const known = this.#known(data);
    if (isShared(data.length, known.count)) known.chunk ??= this.#firstChunk + this.#chunks.push(data) - 1;
    return known.chunk;
  }

  #mayRepeat(data: Data | undefined): data is Data {
    return data !== undefined && this.#lengths.has(data.length);
  }

  #countLength(data: Data | undefined): void {
    if (data === undefined || data.length < MIN_SHARED_CHARS) return;
    this.#lengths.set(data.length, (this.#lengths.get(data.length) ?? 0) + 1);
  }

  #count(data: Data | undefined): void {
    if (this.#mayRepeat(data)) this.#known(data).count++;
  }

  #known(text: Data): Known {
    if (this.#last?.text === text) return this.#last.known;
    const hash = createHash('sha256').update(text, 'latin1').digest('base64');
    const known = this.#byHash.get(hash) ?? { count: 0, chunk: undefined };
    this.#byHash.set(hash, known);
    this.#last = { text, known };
    return known;
  }
}

/** Returns a call's input or a creation's init code. */
export function inputOf(trace: Trace): Data | undefined {
  if (trace.type === 'call') return trace.action.input;
  return trace.type === 'create' ? trace.action.init : undefined;
}

/** Returns a call's output, or a creation's deployed code or revert data. */
export function outputOf(trace: Trace): Data | undefined {
  if (trace.type === 'call') return trace.result?.output;
  const { result } = trace;
  if (result === null) return undefined;
  return 'address' in result ? result.code : result.output;
}
