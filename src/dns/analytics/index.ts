/** What the guard saw, rule by rule and minute by minute. */
export { type Analytics, analyticsOf, InvalidAnalyticsQuery } from './analytics.ts';
export type { Counts } from './counts.ts';
export { type MinuteRecord, mergeMinutes, QueryStats } from './queryStats.ts';
export { KEPT_MINUTES, type QueryStatsStore } from './queryStatsStore.ts';
export { type Standing, sinceStart, standingOf } from './standing.ts';
