/**
 * The slow way into the profile, for names of a zone in which nothing else is learned because it is under attack: asked for
 * and answered on three days. A fixed memory in which no name pushes out another one of the same day.
 */

const WAYS = 4;
/** One half of the hash (the other one chooses the set), and packed: the last day (16 bits), on how many days (16 bits). */
const WORDS_PER_ENTRY = 2;
/** 512 KiB, 65,536 names. */
const SETS = 16_384;
const DAYS_TO_PROVE = 3;
/** A name that is asked for less often than every third day starts again. */
const FORGOTTEN_AFTER_DAYS = 3;

export class ProvingNames {
  readonly #words = new Uint32Array(SETS * WAYS * WORDS_PER_ENTRY);

  get bytes(): number {
    return this.#words.byteLength;
  }

  /** Notes an answered name; true when this is the third day for it. */
  note(high: number, low: number, nowDays: number): boolean {
    const words = this.#words;
    const day = nowDays & 0xffff;
    const first = (low % SETS) * WAYS * WORDS_PER_ENTRY;
    let place = -1;
    for (let at = first; at < first + WAYS * WORDS_PER_ENTRY; at += WORDS_PER_ENTRY) {
      const note = words[at + 1] as number; // inside the set
      const days = note >>> 16;
      const silentDays = (day - note) & 0xffff;
      if (words[at] === high && days > 0 && silentDays < FORGOTTEN_AFTER_DAYS) {
        if (silentDays === 0) return false;
        words[at + 1] = ((days + 1) << 16) | day;
        if (days + 1 < DAYS_TO_PROVE) return false;
        words[at + 1] = 0;
        return true;
      }
      // A name of today, or one that has come half the way, stays.
      const stays = silentDays === 0 || (days > 1 && silentDays < FORGOTTEN_AFTER_DAYS);
      if (days === 0 || !stays) place = at;
    }
    if (place < 0) return false;
    words[place] = high;
    words[place + 1] = (1 << 16) | day;
    return false;
  }
}
