/** Current status of the guard: profile, threshold, token bucket and attacks. Depends on no particular rule. */
import type { AttackDetector } from '../detector/index.ts';
import { type Counts, countsOf } from './counts.ts';
import type { QueryStats } from './queryStats.ts';

export interface DetectorStatus {
  /** False while the guard has not learned enough to drop queries. */
  readonly ready: boolean;
  readonly profile_names: number;
  readonly profile_bytes: number;
  readonly threshold: { readonly rate_per_second: number; readonly burst: number };
  readonly bucket: { readonly rate_per_second: number; readonly burst: number; readonly tokens: number };
  readonly attack: boolean;
  readonly attacked_zones: readonly string[];
}

export function detectorStatusOf(detector: AttackDetector, nowMs: number): DetectorStatus {
  const { threshold } = detector.history;
  const bucket = detector.bucketSize();
  const zones = detector.zones.all().filter((zone) => zone.isReported(nowMs));
  return {
    ready: detector.ready,
    profile_names: detector.profile.size,
    profile_bytes: detector.profile.bytes,
    threshold: { rate_per_second: threshold.ratePerSecond, burst: threshold.burst },
    bucket: {
      rate_per_second: bucket.ratePerSecond,
      burst: bucket.burst,
      tokens: Math.floor(detector.tokens(nowMs)),
    },
    attack: detector.attack,
    attacked_zones: zones.map(({ name }) => name),
  };
}

/** Returns the query counts under a rule since the start. Default: under all rules, and without a rule. */
export function sinceStart(stats: QueryStats, nowMs: number, ruleId?: string): Counts {
  stats.collect(nowMs);
  const totals = ruleId === undefined ? [...stats.totals.values()] : [stats.totals.get(ruleId) ?? []];
  return countsOf(
    totals.flatMap((total) => [...total].map((queries, verdict) => [verdict, queries] as const)),
  );
}
