import type { MinuteRecord } from './queryStats.ts';

export interface QueryStatsStore {
  /** Stores records. Adds the counts to a stored record of the same rule and minute. Deletes expired records. */
  append(records: readonly MinuteRecord[]): Promise<void>;
  /** Returns the records of a rule in order of time, from `fromMinute` (inclusive) to `toMinute` (exclusive). */
  range(ruleId: string, fromMinute: number, toMinute: number): Iterable<MinuteRecord>;
}

/** Number of minutes for which query statistics are stored: seven days. */
export const RETENTION_MINUTES = 7 * 24 * 60;
