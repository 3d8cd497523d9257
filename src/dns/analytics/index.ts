/** What the guard saw, rule by rule and minute by minute. */
export { type Analytics, analyticsOf, type OwnGuard } from './analytics.ts';
export { InvalidAnalyticsQuery } from './analyticsQuery.ts';
export type { Counts } from './counts.ts';
export { isAt, type MinutesQuery, type PlacedMinute } from './placedMinute.ts';
export { type MinuteRecord, mergeMinutes, QueryStats } from './queryStats.ts';
export { KEPT_MINUTES, type QueryStatsStore } from './queryStatsStore.ts';
export { RecentRates } from './recentRates.ts';
export { type Standing, sinceStart, standingOf } from './standing.ts';
export { whatIf } from './whatIf.ts';
