/** Queries that are only counted have the same outcomes as queries that are decided one by one. */
import { expect, it } from 'vitest';
import { floodOf } from './honest/attacks.ts';
import { combinations, nameOf } from './honest/combinations.ts';
import { MINUTE, type World } from './honest/flows.ts';
import { Simulation } from './honest/simulation.ts';
import type { Period } from './honest/tally.ts';
import { worlds } from './honest/worlds/index.ts';

const UNTIL = 8 * MINUTE;
const FLOOD = { perSecond: 600, from: 3 * MINUTE, to: 5 * MINUTE };
/** Part of the usual traffic, so that all queries can be decided. */
const PART = 1 / 6;
/** Largest difference of two shares of limited queries. */
const TOLERANCE = 0.03;
const periods = ['quiet', 'here'] as const satisfies Period[];

const cases = [
  { name: '500 tenants under a wildcard', sensitivities: 'medium/high/low' },
  { name: 'a blocklist with 50 % NXDOMAIN', sensitivities: 'high/high/high' },
  { name: 'parent and child zones', sensitivities: 'very_high/medium/medium' },
];

it.each(cases)('$name at $sensitivities', ({ name, sensitivities }) => {
  const world = worlds.find((one) => one.name === name);
  const combination = combinations.find((one) => nameOf(one) === sensitivities);
  if (world === undefined || combination === undefined) throw new Error(`no world ${name}`);
  const sharesWith = (representatives: object) => {
    const attacks = [floodOf(world.zone, world.inventedKind, FLOOD)];
    const simulation = new Simulation({ world: partOf(world), combination, attacks, ...representatives });
    simulation.run(UNTIL);
    return periods.map((period) => {
      const { limitedShare, recurringLimitedShare } = simulation.tally.of(world.zone, period);
      return { limitedShare, recurringLimitedShare };
    });
  };
  const decided = sharesWith({ representatives: Number.POSITIVE_INFINITY });
  const counted = sharesWith({});
  const difference = decided.map(({ limitedShare }, index) =>
    Math.abs(limitedShare - (counted[index]?.limitedShare ?? 1)),
  );
  expect(Math.max(...difference), JSON.stringify({ decided, counted })).toBeLessThan(TOLERANCE);
});

const partOf = (world: World): World => ({
  ...world,
  flows: world.flows.map((flow) => ({ ...flow, perSecond: (second) => PART * flow.perSecond(second) })),
});
