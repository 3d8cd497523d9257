import type { JsonWriter } from './jsonWriter.ts';

/** Places that one key may be kept in: few, as each is looked at. */
const WAYS = 4;
/** Numbers of a place: its key, and where its piece starts. */
const NUMBERS_PER_PLACE = 2;
const NUMBERS_PER_SET = NUMBERS_PER_PLACE * WAYS;
/** Text of a trace, for sizing the table: an ordinary one has 800 bytes. */
const EXPECTED_TEXT_BYTES = 400;
/** A piece larger than this share of the cache is not kept. */
const MAX_PIECE_SHARE = 1 / 64;
/** Pieces start at multiples of this, so that the numbers at their beginning can be read as such. */
const WORD_BYTES = 4;
/** Where nothing is kept. */
export const NOWHERE = -1;
/** Once the cache is full, one of so many pieces that are offered is kept. */
const KEPT_OF = 2;
/** Stands for no key: memory that nobody has touched is an empty table. */
const NO_KEY = 0;
/** A key as it is kept: none is 0. */
const keptKey = (key: number): number => (key < 0 ? key : key + 1);

/**
 * The JSON of traces in recent use, in one ring of bytes: what is written last overwrites what was written first. It takes
 * exactly the memory that it is given and nothing for the garbage collector to look after.
 *
 * A piece holds the texts of some traces in a row, with commas between them, behind the number of texts and the end of
 * each: a part of the row is then one copy, too.
 */
export class TextCache {
  readonly #ring: Uint8Array;
  readonly #words: Uint32Array;
  readonly #setMask: number;
  /** Key and start of each place: a set fills one line of the processor's cache. */
  readonly #places: Float64Array;
  /** Bytes written so far, those passed over at the ring's end included: starts are counted from the same beginning. */
  #written = 0;
  /** What was written when the ring was last begun from its beginning. */
  #lapStart = 0;
  /** What was written when it was last cleared. */
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

  /** Where the piece kept for a key starts, for `writeAt`; NOWHERE where there is none. */
  find(key: number): number {
    const places = this.#places;
    const set = this.#setOf(key);
    const wanted = keptKey(key);
    for (let i = set; i < set + NUMBERS_PER_SET; i += NUMBERS_PER_PLACE)
      if (places[i] === wanted) return places[i + 1] ?? NOWHERE;
    return NOWHERE;
  }

  /**
   * Writes the texts from number `first` up to, not including, `end` of the piece that `find` found. False, with nothing
   * written, where none was found, it was overwritten since, or has fewer texts.
   */
  // biome-ignore lint/complexity/useMaxParams: called for each trace or group of an answer: no object is made
  writeAt(json: JsonWriter, start: number, first: number, end: number): boolean {
    if (start === NOWHERE || this.#written - start > this.#ring.length) return false;
    const at = this.#placeInRing(start);
    const words = this.#words;
    const word = at / WORD_BYTES;
    const texts = words[word] ?? 0;
    if (end > texts) return false;
    const textAt = at + (1 + texts) * WORD_BYTES;
    // Behind each text but the last there is a comma.
    const from = first === 0 ? 0 : (words[word + first] ?? 0) + 1;
    json.verbatim(this.#ring, textAt + from, textAt + (words[word + end] ?? 0));
    return true;
  }

  /** Starts are counted from the beginning of all writing; what is left of the lap before stands behind what was written. */
  #placeInRing(start: number): number {
    return start >= this.#lapStart ? start - this.#lapStart : start - this.#lapStart + this.#ring.length;
  }

  /**
   * Keeps texts as `keep` does, while there is room; then now and then. If each were kept, a round of a little more than there is
   * room for would find nothing: each piece would be overwritten just before it is asked for again.
   */
  offer(key: number, text: Uint8Array, ends: Uint32Array): void {
    const isFull = this.#written - this.#clearedAt > this.#ring.length;
    if (!isFull || this.#offered++ % KEPT_OF === 0) this.keep(key, text, ends);
  }

  /**
   * Keeps texts for a key, in place of what was kept for it, or of the oldest of its set. `ends` says where each of them
   * ends in `text`; one byte stands between two.
   */
  keep(key: number, text: Uint8Array, ends: Uint32Array): void {
    const headBytes = (1 + ends.length) * WORD_BYTES;
    const bytes = Math.ceil((headBytes + text.length) / WORD_BYTES) * WORD_BYTES;
    const capacity = this.#ring.length;
    if (bytes > capacity * MAX_PIECE_SHARE) return;
    if (this.#written + bytes > this.#lapStart + capacity) {
      this.#lapStart += capacity;
      this.#written = this.#lapStart;
    }
    const start = this.#written;
    const at = this.#placeInRing(start);
    this.#words[at / WORD_BYTES] = ends.length;
    this.#words.set(ends, at / WORD_BYTES + 1);
    this.#ring.set(text, at + headBytes);
    this.#written += bytes;

    const place = this.#placeFor(key);
    this.#places[place] = keptKey(key);
    this.#places[place + 1] = start;
  }

  /** The key's own place in its set, else a free one, else the oldest. */
  #placeFor(key: number): number {
    const places = this.#places;
    const set = this.#setOf(key);
    let oldest = set;
    for (let i = set; i < set + NUMBERS_PER_SET; i += NUMBERS_PER_PLACE) {
      const kept = places[i] ?? NO_KEY;
      if (kept === NO_KEY || kept === keptKey(key)) return i;
      if ((places[i + 1] ?? 0) < (places[oldest + 1] ?? 0)) oldest = i;
    }
    return oldest;
  }

  /** Keys that differ in a few high bits alone, as those of two lists do, come to sets all over the table (murmur3's finalizer). */
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
