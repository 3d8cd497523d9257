/**
 * Honest traffic is not limited, at any sensitivity, without an attack and during attacks on its own zone and on
 * another zone: docs/internals/dns-honest.md.
 */
import { expect, it } from 'vitest';
import { SEARCH_MINUTES } from '../support/search.ts';
import { faultsOfDay } from './honest/bounds.ts';
import { sampleFor } from './honest/combinations.ts';
import { dataPlanes } from './honest/flows.ts';
import { worlds } from './honest/worlds/index.ts';

/** Combinations of sensitivities per world. A longer search (FLOODGATE_SEARCH_MINUTES) takes all 36. */
const SAMPLE = 1;
const timeout = (SEARCH_MINUTES + 10) * 60_000;
/** A longer search runs each world with both data planes, a shorter one with one of them. */
const cases = dataPlanes.flatMap((dataPlane) =>
  worlds
    .map((world, index) => ({ world, index, dataPlane, name: world.name }))
    .filter(({ index }) => SEARCH_MINUTES > 0 || (dataPlane === 'dnsdist') === (index % 2 === 0)),
);

it.each(cases)(
  '$dataPlane, $name: the queries of a day are not limited, also during attacks',
  { timeout },
  ({ world, index, dataPlane }) => {
    const sample = sampleFor(index, SAMPLE);
    expect(sample.flatMap((combination) => faultsOfDay(world, combination, dataPlane))).toEqual([]);
  },
);
