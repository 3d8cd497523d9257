/**
 * Lets through a number of calls a second, and as many at once after a second of rest. `nowMs` is a clock that only
 * grows.
 */
export class TokenBucket {
  readonly #ratePerSecond: number;
  #tokens: number;
  #atMs: number;

  constructor(ratePerSecond: number, nowMs: number) {
    this.#ratePerSecond = ratePerSecond;
    this.#tokens = ratePerSecond;
    this.#atMs = nowMs;
  }

  /** Takes so many. Returns 0, or after how many seconds that many would be there; then none are taken. */
  take(count: number, nowMs: number): number {
    this.#fill(nowMs);
    // More than a second's worth is let through after a second of rest, and is paid for afterwards.
    const needed = Math.min(count, this.#ratePerSecond);
    if (this.#tokens < needed) return (needed - this.#tokens) / this.#ratePerSecond;
    this.#tokens -= count;
    return 0;
  }

  /** Whether it is as good as new, so that it need not be kept. */
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
