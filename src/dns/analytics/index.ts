/** Counts the queries of guards, by rule and minute, and reports them. */
export {
  type Analytics,
  createAnalyticsHandler,
  type LocalGuard,
} from './analytics.ts';
export { InvalidAnalyticsQuery } from './analyticsQuery.ts';
export type { Counts } from './counts.ts';
export {
  type DetectorStatus,
  detectorStatusOf,
  sinceStart,
} from './detectorStatus.ts';
export {
  type GuardMinute,
  type MinutesQuery,
  matchesLocation,
} from './guardMinute.ts';
export { LimitedExamples } from './limitedExamples.ts';
export { type MinuteStore, minuteRates } from './minuteRates.ts';
export { type MinuteRecord, mergeMinutes, QueryStats } from './queryStats.ts';
export { type QueryStatsStore, RETENTION_MINUTES } from './queryStatsStore.ts';
export { RecentRates } from './recentRates.ts';
export { RecentSamples } from './recentSamples.ts';
export { whatIf } from './whatIf.ts';
export { type ReportedAssessment, zoneAssessments } from './zoneAssessments.ts';
