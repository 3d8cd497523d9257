/** History and fluid buckets of a zone that is assessed. */
import type { CountedQueries } from '../zones/sharedZone.ts';
import type { Zone } from '../zones/zone.ts';
import { FluidPool } from './fluidPool.ts';
import type { PerLevel } from './levels.ts';
import { ZoneHistory } from './zoneHistory.ts';

/** Above this multiple of its busiest ten minutes, the rate of a zone looks like an attack. */
const RISE_FACTOR = 3;
/** Below this rate in queries per second, a rise is no attack. No learned limit is lower. */
const MIN_RISE_PER_SECOND = 100;
/** Seconds of traffic after which a zone has a history: its first mean of ten minutes. */
const HISTORY_SECONDS = 600;
/** Time constant of the mean rate that is compared with the history, so that a burst of one second is no rise. */
const RECENT_MS = 10_000;

/** Counts of a zone since the last tick. */
export interface ZoneSecond extends CountedQueries {
  readonly zone: Zone;
}

export class AssessedZone {
  readonly history = new ZoneHistory();
  /** Buckets for unknown and for learned names, while the zone is judged by query rate. */
  readonly unknown = new FluidPool();
  readonly learned = new FluidPool();
  readonly #queries = new RecentRate();
  readonly #paying = new RecentRate();

  add(
    { zone, queries, unknown, learned }: ZoneSecond,
    { limited, upstreamsHealthy }: { readonly limited: PerLevel; readonly upstreamsHealthy: boolean },
    nowMs: number,
  ): void {
    const paying = unknown + learned;
    this.#queries.add(queries, nowMs);
    this.#paying.add(paying, nowMs);
    const isSuspect = !upstreamsHealthy || this.#isRise(zone);
    this.history.add({ queries, paying, limited, isSuspect }, nowMs);
  }

  #isRise({ usual: { busiest, learnedSeconds } }: Zone): boolean {
    if (learnedSeconds < HISTORY_SECONDS) return false;
    const isAbove = (recent: RecentRate, usualPerSecond: number): boolean =>
      recent.perSecond > Math.max(MIN_RISE_PER_SECOND, RISE_FACTOR * usualPerSecond);
    return (
      isAbove(this.#paying, busiest.unknown.perSecond + busiest.learned.perSecond) ||
      isAbove(this.#queries, busiest.all.perSecond)
    );
  }
}

class RecentRate {
  perSecond = 0;
  #addedMs = 0;

  add(queries: number, nowMs: number): void {
    const elapsedMs = Math.max(1, nowMs - this.#addedMs);
    const kept = Math.exp(-elapsedMs / RECENT_MS);
    this.#addedMs = nowMs;
    this.perSecond = this.perSecond * kept + (queries * 1000) / RECENT_MS;
  }
}
