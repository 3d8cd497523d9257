import type { Place } from '../../rules/index.ts';
import type { MinuteRecord } from './queryStats.ts';

/** What a guard counted, and where it stands. */
export interface PlacedMinute {
  readonly place: Place;
  /** The id of the guard. */
  readonly instance: string;
  readonly record: MinuteRecord;
}

export interface MinutesQuery extends Place {
  readonly account: string;
  readonly ruleId: string;
  /** Minutes from the first (inclusive) to the last (exclusive). */
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** Whether a place is one that is asked for: whatever is left out fits. */
export const isAt = (asked: Place, place: Place): boolean =>
  (asked.region === undefined || asked.region === place.region) &&
  (asked.datacenter === undefined || asked.datacenter === place.datacenter);
