import type { GuardLocation } from '../../rules/index.ts';
import { type Counts, countsOf } from './counts.ts';
import type { GuardMinute } from './guardMinute.ts';
import { type MinuteRecord, mergeMinutes } from './queryStats.ts';

/** Maximum number of locations in a response. The locations with the most queries are listed. */
const MAX_LOCATIONS = 1000;

export interface LocationCounts {
  readonly region?: string | undefined;
  readonly datacenter?: string | undefined;
  /** Number of guards at this location that have a record of the rule in the time span. */
  readonly instances: number;
  readonly totals: Counts;
}

interface LocationSums {
  readonly place: GuardLocation;
  readonly instances: Set<string>;
  readonly verdicts: Map<number, number>;
}

export class MinuteSums {
  readonly #minutes = new Map<number, MinuteRecord>();
  readonly #places = new Map<string, LocationSums>();

  add({ place, instance, record }: GuardMinute): void {
    const other = this.#minutes.get(record.minute);
    this.#minutes.set(record.minute, other === undefined ? record : mergeGuards(other, record));
    const key = JSON.stringify([place.region, place.datacenter]);
    const at = this.#places.get(key) ?? { place, instances: new Set(), verdicts: new Map() };
    this.#places.set(key, at);
    at.instances.add(instance);
    for (const [verdict, queries] of record.verdicts)
      at.verdicts.set(verdict, (at.verdicts.get(verdict) ?? 0) + queries);
  }

  minutes(): MinuteRecord[] {
    return [...this.#minutes.values()].sort((a, b) => a.minute - b.minute);
  }

  places(): LocationCounts[] {
    const queriesOf = ({ verdicts }: LocationSums): number =>
      [...verdicts.values()].reduce((a, b) => a + b, 0);
    return [...this.#places.values()]
      .sort((a, b) => queriesOf(b) - queriesOf(a))
      .slice(0, MAX_LOCATIONS)
      .map(({ place: { region, datacenter }, instances, verdicts }) => ({
        ...(region !== undefined && { region }),
        ...(datacenter !== undefined && { datacenter }),
        instances: instances.size,
        totals: countsOf([...verdicts]),
      }));
  }
}

/**
 * Adds up the records of two guards for one minute. The sizes of token bucket and profile are not added: the larger
 * value applies.
 */
function mergeGuards(one: MinuteRecord, other: MinuteRecord): MinuteRecord {
  return {
    ...mergeMinutes(one, other),
    profileNames: Math.max(one.profileNames, other.profileNames),
    ratePerSecond: Math.max(one.ratePerSecond, other.ratePerSecond),
    burst: Math.max(one.burst, other.burst),
  };
}
