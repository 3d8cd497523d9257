/** Number of latencies that the quantile is computed from: enough for a tail, few enough to follow changes soon. */
const SAMPLES = 128;
/** Number of new latencies after which the quantile is computed again. */
const REFRESH_EVERY = 16;
/** Minimum number of latencies that a quantile is computed from. */
const MIN_SAMPLES = 16;

/** The newest latencies of one JSON-RPC method, and a quantile of them. */
export class Latencies {
  readonly #samples = new Float64Array(SAMPLES);
  #count = 0;
  #quantileMs: number | undefined;

  add(ms: number): void {
    this.#samples[this.#count++ % SAMPLES] = ms;
    if (this.#count % REFRESH_EVERY === 0) this.#quantileMs = undefined;
  }

  /** Returns a quantile of the latencies in milliseconds; undefined if there are too few. `share` is from 0 to 1. */
  quantile(share: number): number | undefined {
    if (this.#count < MIN_SAMPLES) return undefined;
    if (this.#quantileMs === undefined) {
      const known = this.#samples.slice(0, Math.min(this.#count, SAMPLES)).sort();
      this.#quantileMs = known[Math.min(known.length - 1, Math.floor(known.length * share))];
    }
    return this.#quantileMs;
  }
}
