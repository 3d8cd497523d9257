/**
 * Hashes of names that were queried recently and needed a token, mostly unknown names. The random names of a flood
 * are queried once, but names in use are queried again. A hash overwrites an older hash in the same slot. An
 * overwritten name counts as queried for the first time when it is queried again.
 */

/**
 * Number of slots, which take 2 MiB. At 20,000 random names per second, a name is kept for 26 seconds on average,
 * longer than clients retry.
 */
const SLOTS = 524_288;
export const RECENT_NAMES_BYTES = SLOTS * 4;

/** Names in shared memory without locks. If two threads write one slot at the same time, the last write remains. */
export class RecentNames {
  readonly #tags: Uint32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#tags = new Uint32Array(memory);
  }

  /** Stores the hash of a queried name. Returns true if the hash was already stored: the name is queried again. */
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
