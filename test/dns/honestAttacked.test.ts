/** Honest traffic is answered while its own zone is attacked, at any sensitivity: docs/internals/dns-honest.md. */
import { expect, it } from 'vitest';
import { SEARCH_MINUTES } from '../support/search.ts';
import { faultsUnderAttack } from './honest/bounds.ts';
import { sampleFor } from './honest/combinations.ts';
import { dataPlanes } from './honest/flows.ts';
import { worlds } from './honest/worlds/index.ts';

/** Combinations of sensitivities per world. A longer search (FLOODGATE_SEARCH_MINUTES) takes all 36. */
const SAMPLE = 1;
const timeout = (SEARCH_MINUTES + 10) * 60_000;
/**
 * A longer search runs each world with both data planes here. A shorter one runs it with one of them here, and with the
 * other in `honestWorlds.test.ts`.
 */
const cases = dataPlanes.flatMap((dataPlane) =>
  worlds
    .map((world, index) => ({ world, index, dataPlane, name: world.name }))
    .filter(({ index }) => SEARCH_MINUTES > 0 || (dataPlane === 'dnsdist') === (index % 2 === 1)),
);

it.each(cases)(
  '$dataPlane, $name: the queries of users are answered during attacks on their zone',
  { timeout },
  ({ world, index, dataPlane }) => {
    const sample = sampleFor(index, SAMPLE);
    expect(sample.flatMap((combination) => faultsUnderAttack(world, combination, dataPlane))).toEqual([]);
  },
);
