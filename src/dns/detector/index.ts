/**
 * Decides whether DNS queries pass, by known names, attack detection and token buckets. Uses no sockets, clock or
 * files. docs/reference/dns-protection.md and dns-attacks.md explain all numbers.
 */

export { type Assessment, assessments } from './assessment/assessment.ts';
export { levelOf } from './assessment/levels.ts';
export { MAX_ASSESSED_ZONES, type ZoneAssessment } from './assessment/zoneAssessments.ts';
// `AttackDetector` learns names and checks zones in one thread. `QueryPolicy` decides single queries in any thread.
export { AttackDetector, type DetectorOptions } from './attackDetector.ts';
export { type Access, type AccessLists, MAX_ACCESS_ENTRIES, NO_LISTS } from './clients/accessLists.ts';
export { type Explanation, explain } from './explain.ts';
export { type AnswerSink, type AskedName, learnAnswer } from './learnAnswer.ts';
export {
  type LimitedQuery,
  LimitedSamples,
  type SampleBatch,
  samplesIn,
} from './limitedSamples.ts';
export type { Thresholds } from './limits/accountThresholds.ts';
export { profileLevel } from './limits/sensitivity.ts';
export type { RateSample } from './limits/thresholds.ts';
export { PolicyReplay, type ReplayResult } from './policyReplay.ts';
export type { ProfileEntry } from './profile/profile.ts';
export type { Learned, ProfileStore, StoredProfile } from './profileStore.ts';
export { QueryPolicy } from './queryPolicy.ts';
export type { SharedState } from './sharedState.ts';
export { type TcpClient, TcpPolicy } from './tcpPolicy.ts';
export type { TokenBucket } from './tokenBucket.ts';
export { UserEnd, type UserQueries, userEndOf } from './userEnd.ts';
export {
  FIRST_LIMITED,
  FIRST_NOT_FORWARDED,
  FIRST_TRUNCATION,
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
export { type SeedResult, ZoneSeed } from './zoneSeed.ts';
export { type DetectedBy, detectedBy } from './zones/alarms.ts';
export { ZONE_BYTES } from './zones/sharedZone.ts';
export type { Zone } from './zones/zone.ts';
