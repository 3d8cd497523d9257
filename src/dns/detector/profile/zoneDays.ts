/**
 * Counts, for each zone, the calendar days with answers. The age of a name is measured in these days, so no name is
 * deleted because of an outage.
 */
const DAY_MS = 24 * 3_600_000;

export const calendarDay = (timeMs: number): number => Math.floor(timeMs / DAY_MS);

/** Number of days with answers from a zone, and calendar day (since 1970) of the zone's last answer. */
export type StoredDays = readonly [count: number, lastDay: number];

export class ZoneDays {
  readonly #counts: Uint32Array;
  readonly #lastDays: Uint32Array;

  /** `zones`: exclusive upper bound of zone numbers. */
  constructor(zones: number) {
    this.#counts = new Uint32Array(zones);
    this.#lastDays = new Uint32Array(zones);
  }

  /** Returns the number of days with answers from the zone. */
  of(zone: number): number {
    return this.#counts[zone] ?? 0;
  }

  /**
   * Records an answer from the zone. Returns the zone's number of days with answers, which does not grow if the clock
   * was set back.
   */
  note(zone: number, nowMs: number): number {
    const today = calendarDay(nowMs);
    const last = this.#lastDays[zone] ?? 0;
    if (today === last) return this.of(zone);
    this.#lastDays[zone] = today;
    if (today > last) this.#counts[zone] = this.of(zone) + 1;
    return this.of(zone);
  }

  stored(zone: number): StoredDays {
    return [this.of(zone), this.#lastDays[zone] ?? 0];
  }

  restore(zone: number, [count, lastDay]: StoredDays): void {
    this.#counts[zone] = count;
    this.#lastDays[zone] = lastDay;
  }
}
