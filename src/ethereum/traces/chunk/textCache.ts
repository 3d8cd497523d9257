import type { JsonWriter } from './jsonWriter.ts';

/** Slots per set (associativity); few, because a lookup checks each slot of a set. */
const WAYS = 4;
/** Numbers per slot: the key and the start of its entry. */
const NUMBERS_PER_PLACE = 2;
const NUMBERS_PER_SET = NUMBERS_PER_PLACE * WAYS;
/** Text bytes per entry for which the table is sized. A typical trace has 800, so some slots stay free. */
const EXPECTED_TEXT_BYTES = 400;
/** Maximum share of the cache that one entry may use; larger entries are not stored. */
const MAX_PIECE_SHARE = 1 / 64;
/** Alignment of entries, so that their leading numbers can be read as 32-bit words. */
const WORD_BYTES = 4;
/** Result of `find` for an unknown key. */
export const NOT_FOUND = -1;
/** When the cache is full, `offer` stores only one entry of this many. */
const ADMISSION_INTERVAL = 2;
/** Marks an empty slot; zero, so that fresh memory is an empty table. */
const NO_KEY = 0;
/** Returns the key as stored in a slot, which is never NO_KEY. */
const storedKey = (key: number): number => (key < 0 ? key : key + 1);

/**
 * Cache of the JSON of recently used traces in one ring buffer; new entries overwrite the oldest. Memory use is
 * constant, and nothing is allocated on the garbage-collected heap.
 *
 * An entry contains the number of texts, the end offset of each text, and the texts of consecutive traces, separated
 * by commas. Several consecutive texts can therefore be copied at once.
 */
export class TextCache {
  readonly #ring: Uint8Array;
  readonly #words: Uint32Array;
  readonly #setMask: number;
  /** Key and start of each slot. A set fits in one 64-byte CPU cache line. */
  readonly #places: Float64Array;
  /** Total bytes written, including bytes skipped at the end of the ring. Entry starts are values of this counter. */
  #written = 0;
  /** Value of `#written` at the start of the current lap of the ring. */
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

  /** Returns the start of a key's entry, which `writeAt` expects, or NOT_FOUND. */
  find(key: number): number {
    const places = this.#places;
    const set = this.#setOf(key);
    const wanted = storedKey(key);
    for (let i = set; i < set + NUMBERS_PER_SET; i += NUMBERS_PER_PLACE)
      if (places[i] === wanted) return places[i + 1] ?? NOT_FOUND;
    return NOT_FOUND;
  }

  /** Writes texts `first` to `end` (exclusive) of an entry. Returns false if it was overwritten or is shorter. */
  // biome-ignore lint/complexity/useMaxParams: called for each trace or group of a response; avoids an allocation
  writeAt(json: JsonWriter, start: number, first: number, end: number): boolean {
    if (start === NOT_FOUND || this.#written - start > this.#ring.length) return false;
    const at = this.#ringOffset(start);
    const words = this.#words;
    const word = at / WORD_BYTES;
    const texts = words[word] ?? 0;
    if (end > texts) return false;
    const textAt = at + (1 + texts) * WORD_BYTES;
    // A comma follows each text except the last.
    const from = first === 0 ? 0 : (words[word + first] ?? 0) + 1;
    json.verbatim(this.#ring, textAt + from, textAt + (words[word + end] ?? 0));
    return true;
  }

  /** Returns the ring offset of an entry. Entries of the previous lap are located after the write pointer. */
  #ringOffset(start: number): number {
    return start >= this.#lapStart ? start - this.#lapStart : start - this.#lapStart + this.#ring.length;
  }

  /**
   * Stores an entry; if the cache is full, only one of {@link ADMISSION_INTERVAL} entries. If all were stored, cyclic
   * reads of slightly more than the cache holds would never hit: each entry would be overwritten before its next use.
   */
  offer(key: number, text: Uint8Array, ends: Uint32Array): void {
    const isFull = this.#written - this.#clearedAt > this.#ring.length;
    if (!isFull || this.#offered++ % ADMISSION_INTERVAL === 0) this.put(key, text, ends);
  }

  /** Stores texts, separated by one byte. They replace the key's entry or, in a full set, the oldest entry. */
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

  /** Returns the slot with the key, else a free slot, else the oldest slot of the set. */
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

  /** Returns the set of a key. Uses the murmur3 finalizer, because keys of two lists differ only in a few high bits. */
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
