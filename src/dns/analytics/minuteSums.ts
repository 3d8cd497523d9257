import type { Place } from '../../rules/index.ts';
import { type Counts, countsOf } from './counts.ts';
import type { PlacedMinute } from './placedMinute.ts';
import { type MinuteRecord, mergeMinutes } from './queryStats.ts';

/** Places that are told, the busiest first. */
const MAX_PLACES_TOLD = 1000;

/** What the guards at one place did. */
export interface PlaceCounts {
  readonly region?: string | undefined;
  readonly datacenter?: string | undefined;
  /** Guards there that counted something in that time. */
  readonly instances: number;
  readonly totals: Counts;
}

interface AtPlace {
  readonly place: Place;
  readonly instances: Set<string>;
  readonly verdicts: Map<number, number>;
}

/** Minutes of several guards, added up: by minute, and by place. */
export class MinuteSums {
  readonly #minutes = new Map<number, MinuteRecord>();
  readonly #places = new Map<string, AtPlace>();

  add({ place, instance, record }: PlacedMinute): void {
    const other = this.#minutes.get(record.minute);
    this.#minutes.set(record.minute, other === undefined ? record : together(other, record));
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

  places(): PlaceCounts[] {
    const queriesOf = ({ verdicts }: AtPlace): number => [...verdicts.values()].reduce((a, b) => a + b, 0);
    return [...this.#places.values()]
      .sort((a, b) => queriesOf(b) - queriesOf(a))
      .slice(0, MAX_PLACES_TOLD)
      .map(({ place: { region, datacenter }, instances, verdicts }) => ({
        ...(region !== undefined && { region }),
        ...(datacenter !== undefined && { datacenter }),
        instances: instances.size,
        totals: countsOf([...verdicts]),
      }));
  }
}

/** Counts are added; a bucket and a profile are each guard's own: the largest is told. */
function together(one: MinuteRecord, other: MinuteRecord): MinuteRecord {
  return {
    ...mergeMinutes(one, other),
    profileNames: Math.max(one.profileNames, other.profileNames),
    ratePerSecond: Math.max(one.ratePerSecond, other.ratePerSecond),
    burst: Math.max(one.burst, other.burst),
  };
}
