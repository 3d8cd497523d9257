/** Flows of queries with one kind of name and answer, and the worlds that consist of them. */
import { QueryType } from '../../../src/dns/protocol/index.ts';
import type { NameSource } from './names.ts';

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const dataPlanes = ['embedded', 'dnsdist'] as const;
export type DataPlaneName = (typeof dataPlanes)[number];

/** Queries per second at a time. `second`: seconds since the rule was enabled; negative while it only monitors. */
export type Rate = (second: number) => number;

export interface Flow {
  /** Zone for which the queries count. */
  readonly zone: string;
  readonly names: () => NameSource;
  /** Kind of answer (`AnswerKind`) to each query of this flow. */
  readonly kind: number;
  readonly perSecond: Rate;
  readonly type: number;
  /** Addresses of the clients, each in its own network. Undefined: forged, a new one for each query. */
  readonly clients: readonly string[] | undefined;
  readonly isAttack: boolean;
  /** Whether each query is simulated at a time, because the guard counts queries of single names or clients. */
  readonly isExact: (second: number) => boolean;
}

/** Twenty resolvers. */
export const RESOLVERS: readonly string[] = Array.from({ length: 20 }, (_, n) => `192.0.${n}.9`);
const never = (): boolean => false;

/** Returns a flow of honest queries; `rate` is constant or changes over time. */
export const flow = (
  zone: string,
  rate: number | Rate,
  fields: Pick<Flow, 'names' | 'kind'> & Partial<Flow>,
): Flow => ({
  zone,
  perSecond: typeof rate === 'number' ? () => rate : rate,
  type: QueryType.A,
  clients: RESOLVERS,
  isAttack: false,
  isExact: never,
  ...fields,
});

/** Returns a rate of day and night: `peak` at most, a quarter of it at least, which is when the day begins. */
export const dayAndNight =
  (peak: number): Rate =>
  (second) =>
    peak * (0.625 - 0.375 * Math.cos((2 * Math.PI * second) / DAY));

/** Returns a rate that is `perSecond` in an interval, and 0 outside of it. */
export const during =
  (from: number, to: number, perSecond: number): Rate =>
  (second) =>
    second >= from && second < to ? perSecond : 0;

/** Marks the owner of an NS record among the owners of addresses. */
export const DELEGATION = 'NS ';

/** Exceptions from the bound of 0.1 %: docs/internals/dns-honest.md. */
export type Exception = 'launch' | 'crowd' | 'newNameCrowd';

export interface World {
  readonly name: string;
  /** Zone with the unusual traffic, which the attacks on the same zone are for. */
  readonly zone: string;
  /** Kind of answer to names that an attacker invents in `zone`. */
  readonly inventedKind: number;
  /** Owner names of seeded zones, by zone. After {@link DELEGATION}, the name of a delegated zone. */
  readonly seeds: Readonly<Record<string, readonly string[]>>;
  /** Zones that are known without a seed, from negative answers. */
  readonly known: readonly string[];
  readonly flows: readonly Flow[];
  /** Intervals in which the traffic changes, so that each second is simulated. */
  readonly changes: readonly (readonly [from: number, to: number])[];
  /** Interval in which the servers answer nothing. */
  readonly outage?: readonly [from: number, to: number];
  readonly exception?: Exception;
  /** Whether the zone is a blocklist or a reverse zone, with bounds of its own during an attack. */
  readonly isList: boolean;
}

/** Returns a world; by default a zone without seed, changes and exception. */
export const world = (
  name: string,
  zone: string,
  fields: Pick<World, 'flows' | 'inventedKind'> & Partial<World>,
): World => ({ name, zone, seeds: {}, known: [zone], changes: [], isList: false, ...fields });
