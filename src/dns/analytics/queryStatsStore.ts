import type { MinuteRecord } from './queryStats.ts';

export interface QueryStatsStore {
  /** Adds the counts to existing records of the same rule and minute. Deletes expired records. */
  append(records: readonly MinuteRecord[]): Promise<void>;
  /** Returns the minutes of a rule in order, from `fromMinute` (inclusive) to `toMinute` (exclusive). */
  range(ruleId: string, fromMinute: number, toMinute: number): Iterable<MinuteRecord>;
}

/** Retention of query statistics in minutes: seven days. */
export const RETENTION_MINUTES = 7 * 24 * 60;
