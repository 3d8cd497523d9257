/**
 * A token bucket for the queries of a whole second. It counts how many of them a bucket of this size would limit,
 * without a decision for each query.
 */
import type { Threshold } from '../limits/thresholds.ts';

export class FluidBucket {
  #tokens = 0;
  #burst = 0;

  /**
   * Adds the tokens of `seconds`, and takes `queries` tokens. Returns the number of queries without a token. The
   * bucket is full at the first call. If the burst grows, the difference is added to the tokens.
   */
  take(queries: number, { ratePerSecond, burst }: Threshold, seconds = 1): number {
    const grown = Math.max(0, burst - this.#burst);
    this.#burst = burst;
    const tokens = Math.min(burst, this.#tokens + grown + ratePerSecond * seconds) - queries;
    this.#tokens = Math.max(0, tokens);
    return Math.max(0, -tokens);
  }
}
