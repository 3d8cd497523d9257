/** Number of samples for the quantile: enough for the tail, few enough to follow a change within seconds. */
const SAMPLES = 128;
/** Number of new samples after which the quantile is computed again. */
const REFRESH_EVERY = 16;
/** Minimum number of samples for a quantile. */
const MIN_SAMPLES = 16;

/** Sliding window of one method's latencies. */
export class Latencies {
  readonly #samples = new Float64Array(SAMPLES);
  #count = 0;
  #quantileMs: number | undefined;

  add(ms: number): void {
    this.#samples[this.#count++ % SAMPLES] = ms;
    if (this.#count % REFRESH_EVERY === 0) this.#quantileMs = undefined;
  }

  /** Returns the quantile in milliseconds; undefined if there are too few samples. */
  quantile(share: number): number | undefined {
    if (this.#count < MIN_SAMPLES) return undefined;
    if (this.#quantileMs === undefined) {
      const known = this.#samples.slice(0, Math.min(this.#count, SAMPLES)).sort();
      this.#quantileMs = known[Math.min(known.length - 1, Math.floor(known.length * share))];
    }
    return this.#quantileMs;
  }
}
