import type { JsonWriter } from './jsonWriter.ts';

/** Places that one key may be kept in: few, as each is looked at. */
const WAYS = 4;
/** Text of a trace, for sizing the table: an ordinary one has 800 bytes. */
const EXPECTED_TEXT_BYTES = 400;
/** A trace larger than this share of the cache is not kept. */
const MAX_TEXT_SHARE = 1 / 64;

/**
 * The JSON of traces in recent use, in one ring of bytes: what is written last overwrites what was written first. It takes
 * exactly the memory that it is given and nothing for the garbage collector to look after.
 */
export class TextCache {
  readonly #ring: Uint8Array;
  readonly #mask: number;
  readonly #keys: Float64Array;
  /** Where a text starts, counted from the beginning of all writing; what lies a ring's length back is overwritten. */
  readonly #starts: Float64Array;
  readonly #lengths: Uint32Array;
  /** Bytes written so far, those passed over at the ring's end included. */
  #written = 0;

  constructor(capacityBytes: number) {
    this.#ring = new Uint8Array(capacityBytes);
    const sets = 2 ** Math.ceil(Math.log2(Math.max(1, capacityBytes / EXPECTED_TEXT_BYTES / WAYS)));
    this.#mask = sets - 1;
    this.#keys = new Float64Array(sets * WAYS).fill(-1);
    this.#starts = new Float64Array(sets * WAYS);
    this.#lengths = new Uint32Array(sets * WAYS);
  }

  clear(): void {
    this.#keys.fill(-1);
  }

  /** Writes the text kept for a key; false where there is none. */
  write(json: JsonWriter, key: number): boolean {
    const oldest = this.#written - this.#ring.length;
    const first = this.#setOf(key);
    for (let i = first; i < first + WAYS; i++) {
      if (this.#keys[i] !== key) continue;
      const start = this.#starts[i] ?? 0;
      if (start < oldest) return false;
      const at = start % this.#ring.length;
      json.verbatim(this.#ring, at, at + (this.#lengths[i] ?? 0));
      return true;
    }
    return false;
  }

  /** Keeps a text for a key, in place of the oldest of its set. */
  keep(key: number, text: Uint8Array): void {
    const capacity = this.#ring.length;
    if (text.length > capacity * MAX_TEXT_SHARE) return;
    const room = capacity - (this.#written % capacity);
    if (room < text.length) this.#written += room;
    const start = this.#written;
    this.#ring.set(text, start % capacity);
    this.#written += text.length;

    const first = this.#setOf(key);
    let oldest = first;
    for (let i = first + 1; i < first + WAYS; i++)
      if (this.#keys[i] === -1 || (this.#starts[i] ?? 0) < (this.#starts[oldest] ?? 0)) oldest = i;
    this.#keys[oldest] = key;
    this.#starts[oldest] = start;
    this.#lengths[oldest] = text.length;
  }

  #setOf(key: number): number {
    const low = key >>> 0;
    const high = Math.floor(key / 2 ** 32);
    let hash = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
    return (hash & this.#mask) * WAYS;
  }
}
