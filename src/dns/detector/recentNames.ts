/**
 * Unknown names that were queried recently and needed a token. The random names of a flood are queried once, names in
 * use repeatedly. A newer name overwrites the name in its slot. An overwritten name must be queried once more.
 */

/** Slots in 2 MiB. At 20,000 random names/s, a name is kept for 26 s on average, longer than clients retry. */
const SLOTS = 524_288;
export const RECENT_NAMES_BYTES = SLOTS * 4;

/** Shared memory without locks: if two threads write one slot at the same time, the last write remains. */
export class RecentNames {
  readonly #tags: Uint32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#tags = new Uint32Array(memory);
  }

  /** Stores a name. Returns true if its slot already contained the name: the name is queried again. */
  note(high: number, low: number): boolean {
    const place = low % SLOTS;
    const again = this.#tags[place] === high;
    this.#tags[place] = high;
    return again;
  }

  clear(): void {
    this.#tags.fill(0);
  }
}
