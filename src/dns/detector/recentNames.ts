/**
 * Unknown names that were queried recently and needed a token. Random names are queried once, names in use repeatedly.
 * A newer name overwrites its slot; an overwritten name needs one more query.
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

  /** Stores a name. Returns whether its slot already contained the name, so that the name is queried again. */
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
