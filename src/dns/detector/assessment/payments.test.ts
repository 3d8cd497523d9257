import { expect, it } from 'vitest';
import type { Zone } from '../zones/zone.ts';
import { AssessedZone } from './assessedZone.ts';
import { levelOf } from './levels.ts';
import { type GuardSecond, Payments } from './payments.ts';

const LEVEL = levelOf('medium', 'medium');
const size = (perSecond: number) => () => ({ ratePerSecond: perSecond, burst: perSecond });

/** Returns how many of the queries of several zones that are judged by rate get no token in a second. */
function limitedOf(queries: readonly number[], { zone, ceiling }: { zone: number; ceiling: number }) {
  const counted = queries.map((unknown, i) => {
    const judgedByRate = {
      number: i + 1,
      byRate: true,
      awaitsRate: false,
      awaitsNames: false,
      shared: { payer: undefined },
      attacked: () => false,
    } as unknown as Zone; // the members that are read
    const counts = { queries: unknown, unknown, learned: 0, unknownType: 0, aboveUsual: 0 };
    return [{ zone: judgedByRate, ...counts }, new AssessedZone()] as const;
  });
  const guard: GuardSecond = {
    nowMs: 0,
    upstreamsHealthy: true,
    rule: undefined,
    zoneOf: () => counted[0]?.[0].zone as Zone,
    attackedSize: size(1),
    calmSize: size(1),
    ceilingSize: size(ceiling),
    zoneSizes: () => ({ mostFactor: 1, unknown: size(zone)(), learned: size(1)() }),
  };
  return new Payments().limited(counted, guard).map((limited) => limited[LEVEL]);
}

it('a query that its zone limits takes no token of all zones', () => {
  expect(limitedOf([100], { zone: 10, ceiling: 50 })).toEqual([90]);
});

it('what zones let pass is limited together', () => {
  expect(limitedOf([100, 10], { zone: 30, ceiling: 20 })).toEqual([85, 5]);
});
