/** What another sensitivity would have done with the traffic of the last minute: the bucket again, over what had to pay. */
import type { AttackDetector } from '../detector/index.ts';
import type { RecentSeconds } from './recentRates.ts';

const SPAN_SECONDS = 60;
export const levels = ['low', 'medium', 'high'] as const;

export interface WhatIf {
  readonly sensitivity: (typeof levels)[number];
  readonly rate_per_second: number;
  readonly burst: number;
  /** Of those that had to pay, how many would have found no token. */
  readonly refused: number;
  /** How many of these were for names that the guard knows: their share of those that had to pay, second by second. */
  readonly known_refused: number;
}

export interface WhatIfs {
  readonly seconds: number;
  readonly queries: number;
  readonly paying: number;
  readonly levels: readonly WhatIf[];
}

/**
 * For each level of the rate and burst sensitivity together. Who has to pay is as it was: that hangs on the profile sensitivity.
 * A zone that is judged by rate has a bucket of its own, and is counted here as if it took from the account's.
 */
export function whatIf(detector: AttackDetector, { series }: RecentSeconds): WhatIfs {
  const last = <T>(values: readonly T[]) => values.slice(-SPAN_SECONDS);
  const paying = last(series.paying);
  const known = last(series.paying_known);
  const sum = (values: readonly number[]) => Math.round(values.reduce((total, value) => total + value, 0));
  return {
    seconds: paying.length,
    queries: sum([...last(series.passed), ...paying]),
    paying: sum(paying),
    levels: levels.map((sensitivity) => {
      const { ratePerSecond, burst } = detector.bucketSize({
        rate_sensitivity: sensitivity,
        burst_sensitivity: sensitivity,
      });
      let tokens = burst;
      let refused = 0;
      let knownRefused = 0;
      for (const [i, wanted] of paying.entries()) {
        tokens = Math.min(burst, tokens + ratePerSecond);
        const lacking = Math.max(0, wanted - tokens);
        tokens -= wanted - lacking;
        refused += lacking;
        if (wanted > 0) knownRefused += (lacking * (known[i] ?? 0)) / wanted;
      }
      return {
        ...{ sensitivity, rate_per_second: ratePerSecond, burst },
        ...{ refused: Math.round(refused), known_refused: Math.round(knownRefused) },
      };
    }),
  };
}
