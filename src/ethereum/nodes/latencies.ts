/** Samples that a quantile is taken of: enough for the tail, few enough to follow a change within seconds. */
const SAMPLES = 128;
/** Sorting is put off until so many new samples have come. */
const REFRESH_EVERY = 16;
/** Before so many samples nothing is known. */
const MIN_SAMPLES = 16;

/** Recent latencies of one method, for its quantile. */
export class Latencies {
  readonly #samples = new Float64Array(SAMPLES);
  #count = 0;
  #quantileMs: number | undefined;

  add(ms: number): void {
    this.#samples[this.#count++ % SAMPLES] = ms;
    if (this.#count % REFRESH_EVERY === 0) this.#quantileMs = undefined;
  }

  /** The quantile in milliseconds; undefined while too little is known. */
  quantile(share: number): number | undefined {
    if (this.#count < MIN_SAMPLES) return undefined;
    if (this.#quantileMs === undefined) {
      const known = this.#samples.slice(0, Math.min(this.#count, SAMPLES)).sort();
      this.#quantileMs = known[Math.min(known.length - 1, Math.floor(known.length * share))];
    }
    return this.#quantileMs;
  }
}
