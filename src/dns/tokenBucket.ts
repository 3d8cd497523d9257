/** A token bucket: `ratePerSecond` tokens come in, at most `burst` are kept, a query that pays takes one. */

const MS_PER_SECOND = 1000;

export class TokenBucket {
  #tokens: number;
  #ratePerSecond: number;
  #burst: number;
  #filledMs = Number.NEGATIVE_INFINITY;

  /** It starts full: what comes first finds the whole burst. */
  constructor(ratePerSecond: number, burst: number) {
    this.#ratePerSecond = ratePerSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** New sizes keep the tokens that are in it as far as they fit; only the room that is added comes filled. */
  resize(ratePerSecond: number, burst: number, nowMs: number): void {
    if (ratePerSecond === this.#ratePerSecond && burst === this.#burst) return;
    const grown = Math.max(0, burst - this.#burst);
    this.#refill(nowMs);
    this.#ratePerSecond = ratePerSecond;
    this.#burst = burst;
    this.#tokens = Math.min(burst, this.#tokens + grown);
  }

  /** Takes a token and leaves `reserve` of them for others. False when there is none to take. */
  take(nowMs: number, reserve = 0): boolean {
    this.#refill(nowMs);
    if (this.#tokens < 1 + reserve) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Tokens in the bucket. */
  level(nowMs: number): number {
    this.#refill(nowMs);
    return this.#tokens;
  }

  get ratePerSecond(): number {
    return this.#ratePerSecond;
  }

  get burst(): number {
    return this.#burst;
  }

  /** A clock that goes backwards brings no tokens and takes none. */
  #refill(nowMs: number): void {
    const elapsedMs = nowMs - this.#filledMs;
    if (elapsedMs === 0) return;
    if (elapsedMs > 0 && this.#filledMs !== Number.NEGATIVE_INFINITY)
      this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs * this.#ratePerSecond) / MS_PER_SECOND);
    this.#filledMs = nowMs;
  }
}
