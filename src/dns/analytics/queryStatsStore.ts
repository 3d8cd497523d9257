import type { MinuteRecord } from './queryStats.ts';

/** Keeps what the guard saw, minute by minute, for {@link KEPT_MINUTES}. */
export interface QueryStatsStore {
  /** Adds to what is kept of the same rule and minute; forgets what is too old. */
  append(records: readonly MinuteRecord[]): Promise<void>;
  /** The minutes of a rule from the first (inclusive) to the last (exclusive), in order. */
  range(ruleId: string, fromMinute: number, toMinute: number): Iterable<MinuteRecord>;
}

/** Seven days. */
export const KEPT_MINUTES = 7 * 24 * 60;
