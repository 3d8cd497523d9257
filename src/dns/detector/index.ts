/**
 * What the guard decides, and from what: which names are really asked for, what an attack looks like, who pays a token.
 * Pure: no socket, no clock, no file. All its numbers are in docs/dns-protection.md.
 */

// The detector, which learns and looks after its zones, and the policy for one query, in any thread.
export { AttackDetector, type DetectorOptions } from './attackDetector.ts';
export { type Access, type AccessLists, MAX_ACCESS_ENTRIES, NO_LISTS } from './clients/accessLists.ts';
export { DecideAgain, type DecidedAgain } from './decideAgain.ts';
export { type Explanation, explain } from './explain.ts';
export { type AnswerSink, type AskedName, learnAnswer } from './learnAnswer.ts';
export type { ProfileEntry } from './profile/profile.ts';
export type { Learned, ProfileStore } from './profileStore.ts';
export { QueryPolicy } from './queryPolicy.ts';
export { type RefusedQuery, RefusedSamples, type SampleBatch, samplesIn } from './refusedSamples.ts';
export { profileLevel } from './sensitivity.ts';
export type { SharedState } from './sharedState.ts';
export type { TcpClient } from './tcpPolicy.ts';
export type { RateSample } from './thresholds.ts';
// What it decides.
export {
  FIRST_REFUSAL,
  FIRST_TRUNCATION,
  FIRST_UNPAID,
  type Outcome,
  outcomeOf,
  outcomes,
  type Reason,
  reasonOf,
  reasons,
  VERDICTS,
  type Verdict,
  verdictOf,
} from './verdict.ts';
// What it knows: from zones, from traffic, from an earlier run.
export { type SeedResult, ZoneSeed } from './zoneSeed.ts';
export { type NoticedBy, noticedBy } from './zones/alarms.ts';
export { ZONE_BYTES } from './zones/sharedZone.ts';
export type { Zone } from './zones/zone.ts';
export type { Thresholds, ZoneThresholds } from './zoneThresholds.ts';
