/** Maps names to zone numbers: a hash table in shared memory, written by one thread and read by all. */
import type { Question } from '../../protocol/index.ts';

/** Maximum number of zones, including wildcard subtrees. Names of further zones count in the enclosing zone. */
export const MAX_ZONES = 4096;
/** Number of slots: four times the zones, so that a search for a suffix without a zone nearly always ends at once. */
const SLOTS = 16_384;
/** Words per slot: two of the zone name's hash, and the zone number. */
const WORDS_PER_SLOT = 3;
export const ZONE_INDEX_BYTES = SLOTS * WORDS_PER_SLOT * 4;

export class ZoneIndex {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Returns the number (at least 1) of the zone with this name hash, or 0. */
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
    // The number marks the slot as used. Write it last, so that a reader that sees it also sees the name.
    Atomics.store(words, at + 2, number);
  }

  /** Returns the deepest zone that contains the name of the question, or 0 for a name outside every known zone. */
  find(question: Question): number {
    for (let suffix = question.labels - 1; suffix >= 0; suffix--) {
      const number = this.get(question.suffixHigh[suffix] ?? 0, question.suffixLow[suffix] ?? 0);
      if (number !== 0) return number;
    }
    return 0;
  }
}
