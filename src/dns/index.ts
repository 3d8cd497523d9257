/**
 * The guard's mind: which names are really asked for, what an attack looks like, who pays a token. Pure: no socket, no
 * clock, no file. What it decides with all numbers is in docs/dns-protection.md; `proxy/` and `dnsdist/` carry it out.
 */
export { type Analytics, analyticsOf, InvalidAnalyticsQuery, standing } from './analytics.ts';
export type { Explanation } from './explain.ts';
export { DEFAULT_JUDGE_OPTIONS, Judge, type JudgeOptions } from './judge.ts';
export { type HashKey, networkHash } from './nameHash.ts';
export { BadNetworkError, type Network, networkText, parseNetwork } from './networks.ts';
export {
  KEPT_MINUTES,
  type Learned,
  type LearnedZone,
  type ProfileStore,
  type RuleSource,
  type SeenStore,
} from './ports.ts';
export type { ProfileEntry } from './profile/profile.ts';
export { type MinuteRecord, mergeMinutes, Seen } from './seen.ts';
export { DEFAULT_MULTIPLIERS, type Multipliers } from './sensitivity.ts';
export type { Threshold } from './thresholds.ts';
export {
  type Outcome,
  outcomeOf,
  outcomes,
  type Reason,
  reasonOf,
  reasons,
  type Verdict,
} from './verdict.ts';
export { nameToWire } from './wire/name.ts';
export { type SeedResult, ZoneSeed } from './zoneSeed.ts';
