/** What the guard limits by mistake recovers within ten minutes, without an operator. */
import { describe, expect, it } from 'vitest';
import { SEARCH_MINUTES } from '../support/search.ts';
import { type Combination, nameOf, sampleFor } from './honest/combinations.ts';
import { limitedGrowth, limitedNewName } from './honest/healing.ts';

const timeout = (SEARCH_MINUTES + 10) * 60_000;
const SAMPLE = 2;
const MOST_LIMITED = 0.001;

/** Returns the cases in which more than MOST_LIMITED of the queries are limited, as texts. */
const faults = (
  sample: readonly Combination[],
  rates: readonly number[],
  limitedShare: (combination: Combination, perSecond: number) => number,
): string[] =>
  sample.flatMap((combination) =>
    rates.flatMap((perSecond) => {
      const share = limitedShare(combination, perSecond);
      if (share <= MOST_LIMITED) return [];
      return [`${nameOf(combination)} at ${perSecond}/s: ${(100 * share).toFixed(2)} % limited`];
    }),
  );

describe('ten minutes after its first query', () => {
  it('a new name that exists is answered during a flood of a zone that denies names', { timeout }, () => {
    expect(faults(sampleFor(0, SAMPLE), [2, 500], limitedNewName)).toEqual([]);
  });

  it('traffic over the limit of a zone judged by rate is answered up to the ceiling', { timeout }, () => {
    expect(faults(sampleFor(1, SAMPLE), [500, 900], limitedGrowth)).toEqual([]);
  });
});
