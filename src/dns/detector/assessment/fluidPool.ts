/** A fluid bucket for each level, whose tokens several zones share. */
import type { Threshold } from '../limits/thresholds.ts';
import { FluidBucket } from './fluidBucket.ts';
import { addTo, LEVELS, type PerLevel, perLevel } from './levels.ts';

/** Queries of one zone in one second that need a token of a pool, and those of its queries that get none. */
export interface Demand {
  readonly queries: PerLevel;
  /** The queries without a token are added to this. */
  readonly limited: PerLevel;
}

const MS_PER_SECOND = 1000;

export class FluidPool {
  readonly #buckets = Array.from({ length: LEVELS }, () => new FluidBucket());
  #tookMs = Number.NEGATIVE_INFINITY;

  /** Takes tokens. Divides the missing ones among the zones in proportion to their demand. Call at most every second. */
  take(demands: readonly Demand[], sizeAt: (level: number) => Threshold, nowMs: number): void {
    const seconds = Math.max(0, (nowMs - this.#tookMs) / MS_PER_SECOND);
    this.#tookMs = nowMs;
    const wanted = perLevel();
    for (const { queries } of demands) addTo(wanted, queries);
    for (const [level, bucket] of this.#buckets.entries()) {
      const total = wanted[level] ?? 0;
      const missing = bucket.take(total, sizeAt(level), seconds);
      if (missing === 0) continue;
      for (const { queries, limited } of demands)
        limited[level] = (limited[level] ?? 0) + (missing * (queries[level] ?? 0)) / total;
    }
  }
}
