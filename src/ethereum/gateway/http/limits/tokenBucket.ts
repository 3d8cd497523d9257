/** Token bucket. `nowMs` must come from a monotonic clock. */
export class TokenBucket {
  readonly #ratePerSecond: number;
  readonly #capacity: number;
  #tokens: number;
  #atMs: number;

  /** The capacity is the number of tokens that are added in `burstSeconds`. */
  constructor(ratePerSecond: number, nowMs: number, burstSeconds = 1) {
    this.#ratePerSecond = ratePerSecond;
    this.#capacity = ratePerSecond * burstSeconds;
    this.#tokens = this.#capacity;
    this.#atMs = nowMs;
  }

  /** Takes tokens and returns 0. If there are too few, takes none and returns the seconds until there are enough. */
  take(count: number, nowMs: number): number {
    this.#fill(nowMs);
    // A count above the capacity could never be covered. It passes when the bucket is full, and overdraws it.
    const needed = Math.min(count, this.#capacity);
    if (this.#tokens < needed) return (needed - this.#tokens) / this.#ratePerSecond;
    this.#tokens -= count;
    return 0;
  }

  /** Adds tokens back. */
  refund(count: number): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + count);
  }

  /** Returns true if the bucket is full. A full bucket can be deleted, because a new bucket is equal to it. */
  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#tokens >= this.#capacity;
  }

  #fill(nowMs: number): void {
    const elapsedSeconds = Math.max(0, nowMs - this.#atMs) / 1_000;
    this.#tokens = Math.min(this.#capacity, this.#tokens + elapsedSeconds * this.#ratePerSecond);
    this.#atMs = nowMs;
  }
}
