/** Maps zone names to zone numbers. A hash table in shared memory, which one thread writes and all threads read. */
import type { Question } from '../../protocol/index.ts';

/**
 * Maximum number of zones, including subtrees below wildcards and delegations. The names of further zones count in
 * the enclosing zone.
 */
export const MAX_ZONES = 4096;
/** Four slots per zone, so that most searches for a suffix that is not a zone end at the first slot. */
const SLOTS = 16_384;
/** Words per slot: two for the hash of the zone's name, and one for the zone number. */
const WORDS_PER_SLOT = 3;
export const ZONE_INDEX_BYTES = SLOTS * WORDS_PER_SLOT * 4;

export class ZoneIndex {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Returns the number (at least 1) of the zone whose name has this hash, or 0 if there is none. */
  get(high: number, low: number): number {
    const words = this.#words;
    for (let place = high & (SLOTS - 1); ; place = (place + 1) & (SLOTS - 1)) {
      const at = place * WORDS_PER_SLOT;
      const number = words[at + 2] ?? 0;
      if (number === 0 || (words[at] === high && words[at + 1] === low)) return number;
    }
  }

  /** Adds a zone that is not in the index. Its number must be at least 1. */
  add(high: number, low: number, number: number): void {
    const words = this.#words;
    let place = high & (SLOTS - 1);
    while (words[place * WORDS_PER_SLOT + 2] !== 0) place = (place + 1) & (SLOTS - 1);
    const at = place * WORDS_PER_SLOT;
    words[at] = high;
    words[at + 1] = low;
    // The zone number marks the slot as used. Write it last, so that a thread that reads it also reads the hash.
    Atomics.store(words, at + 2, number);
  }

  /** Returns the number of the deepest zone that contains the queried name, or 0 if no known zone contains it. */
  find(question: Question): number {
    for (let suffix = question.labels - 1; suffix >= 0; suffix--) {
      const number = this.get(question.suffixHigh[suffix] ?? 0, question.suffixLow[suffix] ?? 0);
      if (number !== 0) return number;
    }
    return 0;
  }
}
