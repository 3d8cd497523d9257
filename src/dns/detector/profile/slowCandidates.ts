/**
 * Pairs of name and query type that were answered while the name's zone was under attack. A pair becomes known after
 * answers on three days. Memory is fixed. A new pair never evicts a pair that was answered on the same day.
 */

const WAYS = 4;
/**
 * Words per entry: one half of the pair's hash (the other half selects the set), and a word with the number of days
 * with answers and the last of these days (16 bits each).
 */
const WORDS_PER_ENTRY = 2;
/** Number of sets of four entries. They contain 65,536 pairs in 512 KiB. */
const SETS = 16_384;
/** A pair becomes known after answers on this many days. */
const DAYS_TO_PROVE = 3;
/** If the last answer for a pair is this many days old, the pair's count of days starts again. */
const FORGOTTEN_AFTER_DAYS = 3;

export class SlowCandidates {
  readonly #words = new Uint32Array(SETS * WAYS * WORDS_PER_ENTRY);

  get bytes(): number {
    return this.#words.byteLength;
  }

  /** Records an answer for a pair of name and query type. Returns true on the third day with an answer. */
  note(high: number, low: number, nowDays: number): boolean {
    const words = this.#words;
    const day = nowDays & 0xffff;
    const first = (low % SETS) * WAYS * WORDS_PER_ENTRY;
    let place = -1;
    for (let at = first; at < first + WAYS * WORDS_PER_ENTRY; at += WORDS_PER_ENTRY) {
      const note = words[at + 1] as number; // index within the set
      const days = note >>> 16;
      const silentDays = (day - note) & 0xffff;
      if (words[at] === high && days > 0 && silentDays < FORGOTTEN_AFTER_DAYS) {
        if (silentDays === 0) return false;
        words[at + 1] = ((days + 1) << 16) | day;
        if (days + 1 < DAYS_TO_PROVE) return false;
        words[at + 1] = 0;
        return true;
      }
      // Do not evict a pair that was answered today, or on at least two days of which the last is recent.
      const stays = silentDays === 0 || (days > 1 && silentDays < FORGOTTEN_AFTER_DAYS);
      if (days === 0 || !stays) place = at;
    }
    if (place < 0) return false;
    words[place] = high;
    words[place + 1] = (1 << 16) | day;
    return false;
  }
}
