/**
 * Which unknown names paid or were refused lately. A random name is asked for once; a new name that somebody needs
 * is asked for again. One tag a place, the last name wins: what is overwritten has only to ask a third time.
 */

/** 2 MiB. At 20,000 random names a second a name is remembered for 26 s on average, longer than clients retry. */
const PLACES = 524_288;
export const RECENT_NAMES_BYTES = PLACES * 4;

/** In shared memory: two threads that note in one place at once are two names there, and the last one wins. */
export class RecentNames {
  readonly #tags: Uint32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#tags = new Uint32Array(memory);
  }

  /** True when this name was the last one noted in its place. */
  note(high: number, low: number): boolean {
    const place = low % PLACES;
    const again = this.#tags[place] === high;
    this.#tags[place] = high;
    return again;
  }

  clear(): void {
    this.#tags.fill(0);
  }
}
