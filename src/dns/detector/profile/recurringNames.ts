/**
 * Names that were answered in one hour, in zones in which any name may exist. A name becomes known when it is answered
 * in another hour of the same day, because the random names of a flood are queried only once. Memory is fixed: a hash
 * assigns each name to a set of four entries, and a new name evicts a name at random from its set.
 */

const WAYS = 4;
/** Number of sets, which take 4 MiB: as many entries as the profile has names by default. */
const SETS = 262_144;
const HOUR_MS = 3_600_000;
/** An entry is a part of the name's hash (24 bits) and the hour of the answer modulo 256 (8 bits). 0: free. */
const HOUR_MASK = 0xff;
const MAX_AGE_HOURS = 24;

export class RecurringNames {
  readonly #entries = new Uint32Array(SETS * WAYS);

  get bytes(): number {
    return this.#entries.byteLength;
  }

  /**
   * Records an answer for a name. Returns:
   * - `first`: the name was not recorded in the last 24 hours.
   * - `repeated`: the name was recorded in the same hour.
   * - `again`: the name was recorded in another hour. The caller must then learn the name.
   */
  note(high: number, low: number, nowMs: number): 'first' | 'repeated' | 'again' {
    const entries = this.#entries;
    const hour = Math.floor(nowMs / HOUR_MS) & HOUR_MASK;
    const tag = high >>> 8 || 1;
    const entry = ((tag << 8) | hour) >>> 0;
    const first = (low % SETS) * WAYS;
    let place = first + (high & (WAYS - 1));
    for (let at = first; at < first + WAYS; at++) {
      const found = entries[at] as number; // index within the set
      const ageHours = (hour - found) & HOUR_MASK;
      const isOld = found === 0 || ageHours > MAX_AGE_HOURS;
      if (!isOld && found >>> 8 === tag) {
        if (ageHours === 0) return 'repeated';
        entries[at] = 0;
        return 'again';
      }
      if (isOld) place = at;
    }
    entries[place] = entry;
    return 'first';
  }
}
