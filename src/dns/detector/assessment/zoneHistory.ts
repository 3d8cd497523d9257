/** What was counted in one zone in the last 60 minutes, 24 hours and 7 days. Memory is fixed. */
import { LEVELS, type PerLevel } from './levels.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SECONDS_PER_MINUTE = 60;
const TEN_SECONDS_MS = 10_000;

/** Layout of a cell of a ring. */
const QUERIES = 0;
const MINUTES = 1;
const PEAK_MINUTE = 2;
const PEAK_TEN_SECONDS = 3;
/** Queries that would pay in a zone judged by rate. Needed only in the ring of minutes. */
const PAYING = 4;
const LIMITED = 5;
const SUSPECT = LIMITED + LEVELS;
const CELL = SUSPECT + LEVELS;

/** Counts of a zone since the last tick. */
export interface CountedSecond {
  readonly queries: number;
  /** Queries that need a token if the zone is judged by rate. */
  readonly paying: number;
  /** Queries that would be limited. */
  readonly limited: PerLevel;
  /** Whether the servers were overloaded, or the zone was far above its usual rate. */
  readonly isSuspect: boolean;
}

/** Sums over a span of time. */
export interface SpanCounts {
  readonly queries: number;
  /** Number of minutes with queries. */
  readonly minutes: number;
  /** Highest rate of {@link CountedSecond.paying} in a minute, per second, without suspect seconds. */
  readonly peakPerSecond: number;
  /** Highest number of {@link CountedSecond.paying} in ten seconds, without suspect seconds. */
  readonly peakInTenSeconds: number;
  readonly limited: PerLevel;
  /** Queries of suspect seconds among {@link limited}. */
  readonly limitedInSuspect: PerLevel;
}

export class ZoneHistory {
  readonly #minutes = new Ring(60, MINUTE_MS);
  readonly #hours = new Ring(24, HOUR_MS);
  readonly #days = new Ring(7, DAY_MS);
  #tenSeconds = -1;
  #payingInTenSeconds = 0;

  add({ queries, paying, limited, isSuspect }: CountedSecond, nowMs: number): void {
    const minute = this.#minutes.cellAt(nowMs);
    const isNewMinute = minute[MINUTES] === 0;
    const usual = isSuspect ? 0 : paying;
    minute[PAYING] = (minute[PAYING] ?? 0) + usual;
    const peakPerSecond = (minute[PAYING] ?? 0) / SECONDS_PER_MINUTE;
    const peakInTenSeconds = this.#addToTenSeconds(usual, nowMs);
    for (const cell of [minute, this.#hours.cellAt(nowMs), this.#days.cellAt(nowMs)]) {
      cell[QUERIES] = (cell[QUERIES] ?? 0) + queries;
      if (isNewMinute) cell[MINUTES] = (cell[MINUTES] ?? 0) + 1;
      cell[PEAK_MINUTE] = Math.max(cell[PEAK_MINUTE] ?? 0, peakPerSecond);
      cell[PEAK_TEN_SECONDS] = Math.max(cell[PEAK_TEN_SECONDS] ?? 0, peakInTenSeconds);
      for (const [level, count] of limited.entries()) {
        cell[LIMITED + level] = (cell[LIMITED + level] ?? 0) + count;
        if (isSuspect) cell[SUSPECT + level] = (cell[SUSPECT + level] ?? 0) + count;
      }
    }
  }

  spans(nowMs: number): { readonly hour: SpanCounts; readonly day: SpanCounts; readonly week: SpanCounts } {
    return { hour: this.#minutes.sum(nowMs), day: this.#hours.sum(nowMs), week: this.#days.sum(nowMs) };
  }

  #addToTenSeconds(paying: number, nowMs: number): number {
    const tenSeconds = Math.floor(nowMs / TEN_SECONDS_MS);
    if (tenSeconds !== this.#tenSeconds) this.#payingInTenSeconds = 0;
    this.#tenSeconds = tenSeconds;
    this.#payingInTenSeconds += paying;
    return this.#payingInTenSeconds;
  }
}

/** Cells for the newest spans of equal length. */
class Ring {
  readonly #cells: Float64Array[];
  readonly #spanMs: number;
  #newest = Number.NEGATIVE_INFINITY;

  constructor(cells: number, spanMs: number) {
    this.#cells = Array.from({ length: cells }, () => new Float64Array(CELL));
    this.#spanMs = spanMs;
  }

  /** Returns the cell of a time. If the clock was set back, returns the newest cell. */
  cellAt(nowMs: number): Float64Array {
    const number = Math.floor(nowMs / this.#spanMs);
    const { length } = this.#cells;
    for (let next = Math.max(this.#newest + 1, number - length + 1); next <= number; next++)
      this.#cellOf(next).fill(0);
    this.#newest = Math.max(this.#newest, number);
    return this.#cellOf(this.#newest);
  }

  sum(nowMs: number): SpanCounts {
    this.cellAt(nowMs);
    const total = new Float64Array(CELL);
    for (const cell of this.#cells)
      for (const [at, count] of cell.entries()) {
        const isPeak = at === PEAK_MINUTE || at === PEAK_TEN_SECONDS;
        total[at] = isPeak ? Math.max(total[at] ?? 0, count) : (total[at] ?? 0) + count;
      }
    return {
      queries: total[QUERIES] ?? 0,
      minutes: total[MINUTES] ?? 0,
      peakPerSecond: total[PEAK_MINUTE] ?? 0,
      peakInTenSeconds: total[PEAK_TEN_SECONDS] ?? 0,
      limited: [...total.subarray(LIMITED, SUSPECT)],
      limitedInSuspect: [...total.subarray(SUSPECT)],
    };
  }

  #cellOf(number: number): Float64Array {
    return this.#cells[number % this.#cells.length] as Float64Array; // the remainder is an index
  }
}
