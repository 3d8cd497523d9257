import type { JsonWriter } from './jsonWriter.ts';

/** Slots per set of the set-associative cache. They are few, because a lookup checks each slot of a set. */
const WAYS = 4;
/** Numbers per slot: the key of an entry, and the start of the entry in the ring. */
const NUMBERS_PER_PLACE = 2;
const NUMBERS_PER_SET = NUMBERS_PER_PLACE * WAYS;
/** Assumed size of an entry, from which the number of slots follows. A typical trace has 800, so slots stay free. */
const EXPECTED_TEXT_BYTES = 400;
/** Maximum share of the cache that one entry may use. Larger entries are not stored. */
const MAX_PIECE_SHARE = 1 / 64;
/** Entries start at multiples of this, so that the numbers at their start can be read as 32-bit words. */
const WORD_BYTES = 4;
/** `find` returns this if the cache has no entry for the key. */
export const NOT_FOUND = -1;
/** When the cache is full, `offer` stores only one of this many entries. */
const ADMISSION_INTERVAL = 2;
/** Marks an empty slot. It is zero, so that new memory contains only empty slots. */
const NO_KEY = 0;
/** Returns the number that a slot contains for a key. It is never NO_KEY. */
const storedKey = (key: number): number => (key < 0 ? key : key + 1);

/**
 * Cache of the JSON texts of recently used traces. It is one ring buffer, in which new entries overwrite the oldest.
 * Its memory is constant, and entries are not on the garbage-collected heap.
 *
 * An entry contains the number of its texts, the end offset of each text, and the texts of consecutive traces,
 * separated by commas. Several consecutive texts can therefore be copied at once.
 */
export class TextCache {
  readonly #ring: Uint8Array;
  readonly #words: Uint32Array;
  readonly #setMask: number;
  /** The slots: for each one, the key and the start of an entry. A set has 64 bytes, the size of a CPU cache line. */
  readonly #places: Float64Array;
  /** Bytes written so far, including bytes skipped at the end of the ring. The start of an entry is such a count. */
  #written = 0;
  /** Value of `#written` when the ring was last written from its beginning. */
  #lapStart = 0;
  /** Value of `#written` at the last `clear`. */
  #clearedAt = 0;
  #offered = 0;

  constructor(capacityBytes: number) {
    this.#ring = new Uint8Array(capacityBytes - (capacityBytes % WORD_BYTES));
    this.#words = new Uint32Array(this.#ring.buffer);
    const sets = 2 ** Math.ceil(Math.log2(Math.max(1, capacityBytes / EXPECTED_TEXT_BYTES / WAYS)));
    this.#setMask = sets - 1;
    this.#places = new Float64Array(sets * NUMBERS_PER_SET);
  }

  clear(): void {
    this.#places.fill(NO_KEY);
    this.#clearedAt = this.#written;
  }

  /** Returns the start of a key's entry for `writeAt`, or NOT_FOUND. */
  find(key: number): number {
    const places = this.#places;
    const set = this.#setOf(key);
    const wanted = storedKey(key);
    for (let i = set; i < set + NUMBERS_PER_SET; i += NUMBERS_PER_PLACE)
      if (places[i] === wanted) return places[i + 1] ?? NOT_FOUND;
    return NOT_FOUND;
  }

  /**
   * Writes the texts `first` to `end` (exclusive) of an entry. Returns false if the entry was overwritten or has
   * fewer texts.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each trace or group of a response; avoids an allocation
  writeAt(json: JsonWriter, start: number, first: number, end: number): boolean {
    if (start === NOT_FOUND || this.#written - start > this.#ring.length) return false;
    const at = this.#ringOffset(start);
    const words = this.#words;
    const word = at / WORD_BYTES;
    const texts = words[word] ?? 0;
    if (end > texts) return false;
    const textAt = at + (1 + texts) * WORD_BYTES;
    // A comma separates two texts, so every text except the first starts one byte after the end of the previous one.
    const from = first === 0 ? 0 : (words[word + first] ?? 0) + 1;
    json.verbatim(this.#ring, textAt + from, textAt + (words[word + end] ?? 0));
    return true;
  }

  /** Returns the offset of an entry in the ring. An entry of the previous lap is after the last written byte. */
  #ringOffset(start: number): number {
    return start >= this.#lapStart ? start - this.#lapStart : start - this.#lapStart + this.#ring.length;
  }

  /**
   * Stores an entry; if the cache is full, only one of {@link ADMISSION_INTERVAL} entries. If all were stored,
   * reading slightly more traces than the cache holds again and again would overwrite each entry before its next use.
   */
  offer(key: number, text: Uint8Array, ends: Uint32Array): void {
    const isFull = this.#written - this.#clearedAt > this.#ring.length;
    if (!isFull || this.#offered++ % ADMISSION_INTERVAL === 0) this.put(key, text, ends);
  }

  /** Stores texts that commas separate. They replace the entry of the key or, in a full set, the oldest entry. */
  put(key: number, text: Uint8Array, ends: Uint32Array): void {
    const headBytes = (1 + ends.length) * WORD_BYTES;
    const bytes = Math.ceil((headBytes + text.length) / WORD_BYTES) * WORD_BYTES;
    const capacity = this.#ring.length;
    if (bytes > capacity * MAX_PIECE_SHARE) return;
    if (this.#written + bytes > this.#lapStart + capacity) {
      this.#lapStart += capacity;
      this.#written = this.#lapStart;
    }
    const start = this.#written;
    const at = this.#ringOffset(start);
    this.#words[at / WORD_BYTES] = ends.length;
    this.#words.set(ends, at / WORD_BYTES + 1);
    this.#ring.set(text, at + headBytes);
    this.#written += bytes;

    const place = this.#slotFor(key);
    this.#places[place] = storedKey(key);
    this.#places[place + 1] = start;
  }

  /** Returns the slot in which to store an entry: that of its key, else a free one, else the oldest of the set. */
  #slotFor(key: number): number {
    const places = this.#places;
    const set = this.#setOf(key);
    let oldest = set;
    for (let i = set; i < set + NUMBERS_PER_SET; i += NUMBERS_PER_PLACE) {
      const kept = places[i] ?? NO_KEY;
      if (kept === NO_KEY || kept === storedKey(key)) return i;
      if ((places[i + 1] ?? 0) < (places[oldest + 1] ?? 0)) oldest = i;
    }
    return oldest;
  }

  /**
   * Returns the offset of a key's set. The murmur3 finalizer mixes the bits of the key, because keys of entries from
   * two posting lists often differ only in a few high bits.
   */
  #setOf(key: number): number {
    const low = key >>> 0;
    const high = Math.floor(key / 2 ** 32);
    let hash = Math.imul(low, 0x9e3779b1) ^ high;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
    return (hash & this.#setMask) * NUMBERS_PER_SET;
  }
}
