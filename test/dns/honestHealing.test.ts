/** What the guard limits by mistake recovers within ten minutes, without an operator. */
import { describe, expect, it } from 'vitest';
import { SEARCH_MINUTES } from '../support/search.ts';
import { nameOf, sampleFor } from './honest/combinations.ts';
import { type DataPlaneName, dataPlanes } from './honest/flows.ts';
import { type Case, limitedGrowth, limitedNewName } from './honest/healing.ts';

const timeout = (SEARCH_MINUTES + 10) * 60_000;
const SAMPLE = 2;
const MOST_LIMITED = 0.001;

const casesOf = (dataPlane: DataPlaneName, n: number): Case[] =>
  sampleFor(n, SAMPLE).map((combination) => ({ combination, dataPlane }));

/** Returns the cases in which more than MOST_LIMITED of the queries are limited, as texts. */
const faults = (
  cases: readonly Case[],
  rates: readonly number[],
  limitedShare: (one: Case, perSecond: number) => number,
): string[] =>
  cases.flatMap((one) =>
    rates.flatMap((perSecond) => {
      const share = limitedShare(one, perSecond);
      if (share <= MOST_LIMITED) return [];
      return [`${nameOf(one.combination)} at ${perSecond}/s: ${(100 * share).toFixed(2)} % limited`];
    }),
  );

describe.each(dataPlanes)('%s, ten minutes after the first query', (dataPlane) => {
  it('a new name that exists is answered during a flood of a zone that denies names', { timeout }, () => {
    expect(faults(casesOf(dataPlane, 0), [2, 500], limitedNewName)).toEqual([]);
  });

  it('traffic over the limit of a zone judged by rate is answered up to the ceiling', { timeout }, () => {
    expect(faults(casesOf(dataPlane, 1), [500, 900], limitedGrowth)).toEqual([]);
  });
});
