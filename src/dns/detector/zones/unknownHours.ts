/**
 * Detects zones in which most queries are for unknown names on every hour of a day, like blocklists. Such a zone is
 * judged by query rate, because unknown names in it are no evidence of an attack.
 */

const HOUR_MS = 3_600_000;
/** Number of consecutive hours after which a zone gets or loses this status. */
const HOURS = 24;
const MOSTLY_UNKNOWN_SHARE = 0.5;
const SELDOM_UNKNOWN_SHARE = 0.3;
/** Hours with fewer queries are ignored, because a share of few queries means little. */
const MIN_QUERIES = 1000;

export interface StoredHours {
  readonly isMostlyUnknown: boolean;
  readonly hours: number;
}

export class UnknownHours {
  isMostlyUnknown = false;
  /** Number of consecutive hours that contradict the status. */
  #hours = 0;
  #hour = -1;
  #queries = 0;
  #unknown = 0;
  #isExcluded = false;

  /** Adds counts. `isExcluded`: the current hour shows nothing, because of an attack or overloaded servers. */
  add(
    { queries, unknown }: { readonly queries: number; readonly unknown: number },
    isExcluded: boolean,
    nowMs: number,
  ): void {
    const hour = Math.floor(nowMs / HOUR_MS);
    if (hour !== this.#hour) this.#endHour(hour);
    this.#queries += queries;
    this.#unknown += unknown;
    this.#isExcluded ||= isExcluded;
  }

  stored(): StoredHours {
    return { isMostlyUnknown: this.isMostlyUnknown, hours: this.#hours };
  }

  restore({ isMostlyUnknown, hours }: StoredHours): void {
    this.isMostlyUnknown = isMostlyUnknown;
    this.#hours = hours;
  }

  #endHour(nextHour: number): void {
    if (this.#queries >= MIN_QUERIES) {
      const share = this.#unknown / this.#queries;
      const contradicts = this.isMostlyUnknown ? share < SELDOM_UNKNOWN_SHARE : share >= MOSTLY_UNKNOWN_SHARE;
      this.#hours = contradicts && !this.#isExcluded ? this.#hours + 1 : 0;
    }
    if (this.#hours >= HOURS) {
      this.isMostlyUnknown = !this.isMostlyUnknown;
      this.#hours = 0;
    }
    this.#hour = nextHour;
    this.#queries = 0;
    this.#unknown = 0;
    this.#isExcluded = false;
  }
}
