/** How the guard stands at this moment, whatever the rule is and without one. */
import type { AttackDetector } from '../detector/index.ts';
import { type Counts, countsOf } from './counts.ts';
import type { QueryStats } from './queryStats.ts';

export interface Standing {
  /** False while the guard drops nothing because it has not learned enough. */
  readonly ready: boolean;
  readonly profile_names: number;
  readonly profile_bytes: number;
  readonly threshold: { readonly rate_per_second: number; readonly burst: number };
  readonly bucket: { readonly rate_per_second: number; readonly burst: number; readonly tokens: number };
  readonly attack: boolean;
  readonly attacked_zones: readonly string[];
}

export function standingOf(detector: AttackDetector, nowMs: number): Standing {
  const { threshold } = detector.history;
  const bucket = detector.bucketSize();
  const zones = detector.zones.all().filter((zone) => zone.noticed(nowMs));
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

/** What came of queries since the guard was started: under one rule, or under all and none where it is left out. */
export function sinceStart(stats: QueryStats, nowMs: number, ruleId?: string): Counts {
  stats.note(nowMs);
  const totals = ruleId === undefined ? [...stats.totals.values()] : [stats.totals.get(ruleId) ?? []];
  return countsOf(
    totals.flatMap((total) => [...total].map((queries, verdict) => [verdict, queries] as const)),
  );
}
