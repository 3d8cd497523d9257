/** What the guard saw, rule by rule and minute by minute. */
export { type Analytics, analyticsOf, InvalidAnalyticsQuery } from './analytics.ts';
export { type MinuteRecord, mergeMinutes, Seen } from './seen.ts';
export { KEPT_MINUTES, type SeenStore } from './seenStore.ts';
