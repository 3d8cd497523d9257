/** Token bucket whose capacity is the number of calls allowed per second. `nowMs` must come from a monotonic clock. */
export class TokenBucket {
  readonly #ratePerSecond: number;
  #tokens: number;
  #atMs: number;

  constructor(ratePerSecond: number, nowMs: number) {
    this.#ratePerSecond = ratePerSecond;
    this.#tokens = ratePerSecond;
    this.#atMs = nowMs;
  }

  /** Takes tokens and returns 0. If there are too few, takes none and returns the seconds until there are enough. */
  take(count: number, nowMs: number): number {
    this.#fill(nowMs);
    // A count above the capacity could never be covered. It passes when the bucket is full, and overdraws it.
    const needed = Math.min(count, this.#ratePerSecond);
    if (this.#tokens < needed) return (needed - this.#tokens) / this.#ratePerSecond;
    this.#tokens -= count;
    return 0;
  }

  /** Returns true if the bucket is full. A full bucket can be deleted, because a new bucket is equal to it. */
  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#tokens >= this.#ratePerSecond;
  }

  #fill(nowMs: number): void {
    const elapsedSeconds = Math.max(0, nowMs - this.#atMs) / 1_000;
    this.#tokens = Math.min(this.#ratePerSecond, this.#tokens + elapsedSeconds * this.#ratePerSecond);
    this.#atMs = nowMs;
  }
}
