import type { Rule } from '../../../src/rules/index.ts';
import { SEARCH_MINUTES } from '../../support/search.ts';

export type Combination = Pick<Rule, 'profile_sensitivity' | 'rate_sensitivity' | 'burst_sensitivity'>;

const levels = ['low', 'medium', 'high'] as const;

/** All 36 combinations of sensitivities. */
export const combinations: readonly Combination[] = [...levels, 'very_high' as const].flatMap((profile) =>
  levels.flatMap((rate) =>
    levels.map((burst) => ({
      profile_sensitivity: profile,
      rate_sensitivity: rate,
      burst_sensitivity: burst,
    })),
  ),
);

export const nameOf = ({ profile_sensitivity, rate_sensitivity, burst_sensitivity }: Combination): string =>
  `${profile_sensitivity}/${rate_sensitivity}/${burst_sensitivity}`;

/** Step to the next combination of the sample. Without a common factor with 36, so that worlds differ. */
const STRIDE = 7;

/**
 * Returns the combinations for test number `n`: `size` of them that differ from test to test, or all of them in a
 * longer search (SEARCH_MINUTES).
 */
export const sampleFor = (n: number, size: number): readonly Combination[] =>
  SEARCH_MINUTES > 0
    ? combinations
    : Array.from(
        { length: size },
        (_, i) => combinations[(STRIDE * n + i * (Math.floor(36 / size) + 1)) % 36] as Combination, // below 36
      );

export const RULE: Rule = {
  id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
  scope: 'global',
  name: 'global',
  mode: 'monitoring',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  created_on: '2026-11-01T10:00:00.000000+00:00',
  modified_on: '2026-11-01T10:00:00.000000+00:00',
};
