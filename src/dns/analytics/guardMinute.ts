import type { GuardLocation } from '../../rules/index.ts';
import type { MinuteRecord } from './queryStats.ts';

/** Query counts of one guard in one minute, with id and location of the guard. */
export interface GuardMinute {
  readonly place: GuardLocation;
  readonly instance: string;
  readonly record: MinuteRecord;
}

export interface MinutesQuery extends GuardLocation {
  readonly account: string;
  readonly ruleId: string;
  /** First minute (inclusive), as a number since 1970. */
  readonly fromMinute: number;
  /** End of the range of minutes (exclusive). */
  readonly toMinute: number;
}

/** Returns whether a location is selected. An undefined region or data center in `asked` selects every location. */
export const matchesLocation = (asked: GuardLocation, place: GuardLocation): boolean =>
  (asked.region === undefined || asked.region === place.region) &&
  (asked.datacenter === undefined || asked.datacenter === place.datacenter);
