/**
 * The days of each zone: one for each calendar day on which an answer was heard from it. Names age by these, so that nothing is
 * forgotten because a server was away, or the guard.
 */
const DAY_MS = 24 * 3_600_000;

export const calendarDay = (timeMs: number): number => Math.floor(timeMs / DAY_MS);

/** What is stored of a zone's days: how many there were, and the calendar day of the last one. */
export type StoredDays = readonly [count: number, lastDay: number];

export class ZoneDays {
  readonly #counts: Uint32Array;
  readonly #lastDays: Uint32Array;

  /** For zones with numbers below `zones`. */
  constructor(zones: number) {
    this.#counts = new Uint32Array(zones);
    this.#lastDays = new Uint32Array(zones);
  }

  /** The day that it is in a zone. */
  of(zone: number): number {
    return this.#counts[zone] ?? 0;
  }

  /** Notes that the zone was answered; returns the day that it is in it. A clock set back makes no new day. */
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
