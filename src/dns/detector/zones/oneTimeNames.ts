/** Detects zones with one-time names. A one-time name is queried only once, so the profile cannot learn it. */

/**
 * A zone has one-time names if more than this share of its positive answers is for names that were not queried
 * before. In ordinary zones, the share is at most 20 %.
 */
const ONCE_ONLY_SHARE = 0.5;
/** A zone with one-time names loses this status if the share falls below this value. */
const NOT_ONCE_ONLY_SHARE = 0.3;
const MIN_ANSWERS = 1000;
/** Above this number of counted answers, the two counters are halved, so that recent answers have more weight. */
const MEMORY = 10_000;

export class OneTimeNames {
  /** Number of positive answers from the zone. */
  answers = 0;
  /** Number of those positive answers that are for names not queried before. */
  first = 0;
  #is = false;

  get is(): boolean {
    return this.#is;
  }

  note(first: boolean): void {
    this.answers++;
    if (first) this.first++;
  }

  /** Decides again whether the zone has one-time names, if enough answers were counted. */
  update(): void {
    if (this.answers > MEMORY) {
      this.answers /= 2;
      this.first /= 2;
    }
    if (this.answers < MIN_ANSWERS) return;
    const share = this.first / this.answers;
    if (share > ONCE_ONLY_SHARE) this.#is = true;
    else if (share < NOT_ONCE_ONLY_SHARE) this.#is = false;
  }
}
