import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SEARCH_MINUTES, sizeInSearch } from '../support/search.ts';
import { floodOfManyZones, floodOfTaughtNames } from './adversary/rateZones.ts';
import { attacksOf, broken } from './adversary/search.ts';
import { DAY_MINUTES, World } from './adversary/world.ts';
import { dataPlanes } from './honest/flows.ts';

const RUNS = 20;
/**
 * The default search skips the runs left after this time. A search of SEARCH_MINUTES has no such limit and tries
 * longer attacks.
 */
const RUNS_END_AFTER_MS = 4000;

it('weeks of any attack neither evict names of users, nor raise a rate faster than twofold a day, nor let a flood pass', {
  timeout: (SEARCH_MINUTES + 10) * 60_000,
}, () => {
  const attacks = SEARCH_MINUTES > 0 ? attacksOf(8, 9) : attacksOf(2, 1);
  const untilMs = Date.now() + SEARCH_MINUTES * 60_000;
  do
    fc.assert(
      fc.property(attacks, (attack) => {
        expect(broken(attack)).toEqual([]);
      }),
      SEARCH_MINUTES > 0 ? { numRuns: RUNS } : { numRuns: RUNS, interruptAfterTimeLimit: RUNS_END_AFTER_MS },
    );
  while (Date.now() < untilMs);
});

/**
 * Returns the minutes after which a continuous flood of random names at this rate no longer counts as an attack; at
 * most eight days.
 */
function attackMinutes(randomPerSecond: number): number {
  const world = new World();
  world.quietDays(6);
  const flow = { zone: 'seeded.test', randomPerSecond, knownPerSecond: 0, taughtNames: 0 } as const;
  let minutes = 0;
  do {
    world.minutes(10, [flow]);
    minutes += 10;
  } while (world.detector.zones.get(flow.zone)?.attacked(world.nowMs) && minutes < 8 * DAY_MINUTES);
  return minutes;
}

it('a continuous flood doubles the baseline at most once a day, from 100/s, and 1,000/s never becomes the baseline', () => {
  expect(attackMinutes(150)).toBeGreaterThan(0.5 * DAY_MINUTES);
  expect(attackMinutes(300)).toBeGreaterThan(1.5 * DAY_MINUTES);
  expect(attackMinutes(900)).toBeGreaterThan(3 * DAY_MINUTES);
  expect(attackMinutes(1000)).toBe(8 * DAY_MINUTES);
});

/** Zones judged by rate that a flood is spread over. */
const RATE_ZONES = 100;

const floods = dataPlanes.flatMap((dataPlane) =>
  [1000, 20_000].map((capacityPerSecond) => ({ dataPlane, capacityPerSecond })),
);

it.each(
  sizeInSearch(floods, {
    ordinary: floods.filter(
      ({ dataPlane, capacityPerSecond }) => (dataPlane === 'embedded') === (capacityPerSecond === 1000),
    ),
  }),
)(
  '$dataPlane: a flood over 100 zones judged by rate passes at most at the ceiling, if servers answer $capacityPerSecond/s',
  (options) => {
    const { passedPerSecond, ceilingPerSecond } = floodOfManyZones({ ...options, zones: RATE_ZONES });
    expect(passedPerSecond).toBeLessThanOrEqual(1.1 * ceilingPerSecond);
  },
);

it.each(dataPlanes)(
  '%s: a flood of names that it taught to a zone judged by rate passes at most at the limit of learned names',
  (dataPlane) => {
    const { passedPerSecond, limitPerSecond } = floodOfTaughtNames(dataPlane);
    expect(passedPerSecond).toBeGreaterThan(0);
    expect(passedPerSecond).toBeLessThanOrEqual(1.1 * limitPerSecond);
  },
);
