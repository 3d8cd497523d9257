/**
 * The guard's mind: which names are really asked for, what an attack looks like, who pays a token. Pure: no socket, no
 * clock, no file. What it decides with all numbers is in docs/dns-protection.md; `proxy/` and `dnsdist/` carry it out.
 */
export { effectiveRule, type Place } from './effectiveRule.ts';
export { DEFAULT_JUDGE_OPTIONS, Judge, type JudgeOptions } from './judge.ts';
export { type HashKey, networkHash } from './nameHash.ts';
export type { Learned, LearnedZone, ProfileStore, ProtectionRule, RuleSource } from './ports.ts';
export type { ProfileEntry } from './profile/profile.ts';
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
export { type SeedResult, ZoneSeed } from './zoneSeed.ts';
