/** Which zone a name lies in, as a number: a hash table of zone names in shared memory, written by one thread and read by all. */
import type { Question } from '../../protocol/index.ts';

/** Zones and wildcard subtrees together. One more is counted with the zone above it. */
export const MAX_ZONES = 4096;
/** Four times as many places as zones: a suffix that is no zone is told in one look, nearly always. */
const PLACES = 16_384;
/** Two lanes of the hash of the zone's name, and its number. */
const WORDS_PER_PLACE = 3;
export const ZONE_INDEX_BYTES = PLACES * WORDS_PER_PLACE * 4;

export class ZoneIndex {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** The number of the zone of this name, from 1; 0 for none. */
  get(high: number, low: number): number {
    const words = this.#words;
    for (let place = high & (PLACES - 1); ; place = (place + 1) & (PLACES - 1)) {
      const at = place * WORDS_PER_PLACE;
      const number = words[at + 2] ?? 0;
      if (number === 0 || (words[at] === high && words[at + 1] === low)) return number;
    }
  }

  /** Adds a zone that is not there, under a number from 1. */
  add(high: number, low: number, number: number): void {
    const words = this.#words;
    let place = high & (PLACES - 1);
    while (words[place * WORDS_PER_PLACE + 2] !== 0) place = (place + 1) & (PLACES - 1);
    const at = place * WORDS_PER_PLACE;
    words[at] = high;
    words[at + 1] = low;
    // The number makes the place a used one: a reader must find the name there when it sees it.
    Atomics.store(words, at + 2, number);
  }

  /** The number of the deepest zone that the name of the question lies in; 0 for a name outside every zone. */
  find(question: Question): number {
    for (let suffix = question.labels - 1; suffix >= 0; suffix--) {
      const number = this.get(question.suffixHigh[suffix] ?? 0, question.suffixLow[suffix] ?? 0);
      if (number !== 0) return number;
    }
    return 0;
  }
}
