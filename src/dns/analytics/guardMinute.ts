import type { GuardLocation } from '../../rules/index.ts';
import type { MinuteRecord } from './queryStats.ts';

/** One minute of one guard, with the guard's location. */
export interface GuardMinute {
  readonly place: GuardLocation;
  readonly instance: string;
  readonly record: MinuteRecord;
}

export interface MinutesQuery extends GuardLocation {
  readonly account: string;
  readonly ruleId: string;
  /** First minute (inclusive); `toMinute` is exclusive. */
  readonly fromMinute: number;
  readonly toMinute: number;
}

/** Whether a location matches the query. An undefined region or data center matches every location. */
export const matchesLocation = (asked: GuardLocation, place: GuardLocation): boolean =>
  (asked.region === undefined || asked.region === place.region) &&
  (asked.datacenter === undefined || asked.datacenter === place.datacenter);
