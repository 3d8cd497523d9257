/**
 * A lock-free token bucket in shared memory, used by all threads. The bucket gains `ratePerSecond` tokens per second,
 * up to `burst` tokens. Each query that needs a token takes one.
 */

const MS_PER_SECOND = 1000;
/** Tokens are counted in thousandths (units), so that one token per second is one unit per millisecond. */
const UNITS_PER_TOKEN = 1000;
/**
 * Maximum burst in tokens. More units would not fit into 32 bits. This burst suffices for five seconds at 400,000
 * queries per second, which is more than one machine forwards.
 */
const MAX_BURST = 2_000_000;
/** Maximum difference between the clocks of two threads. If time goes back by more, the system clock was set back. */
const CLOCK_SET_BACK_MS = 1000;

const TOKENS = 0;
/** Index of the word with the time of the last refill, in milliseconds modulo 2^32. */
const FILLED_MS = 1;
const RATE = 1;
const BURST = 2;
/** Size of a token bucket in bytes: two 32-bit words and two 64-bit numbers. */
export const BUCKET_BYTES = 24;

/** A token bucket at an offset in shared memory. `offset` must be a multiple of eight. */
export class TokenBucket {
  readonly #words: Int32Array;
  readonly #size: Float64Array;

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#words = new Int32Array(memory, offset, BUCKET_BYTES / 4);
    this.#size = new Float64Array(memory, offset, BUCKET_BYTES / 8);
  }

  /**
   * Changes rate and burst. If the burst grows, adds the difference to the tokens. If it shrinks, keeps as many
   * tokens as the new burst permits.
   */
  resize(ratePerSecond: number, burst: number, nowMs: number): void {
    const wanted = Math.min(MAX_BURST, burst);
    if (ratePerSecond === this.ratePerSecond && wanted === this.burst) return;
    const grown = Math.max(0, wanted - this.burst);
    this.#refill(nowMs);
    this.#size[RATE] = ratePerSecond;
    this.#size[BURST] = wanted;
    this.#add(grown * UNITS_PER_TOKEN);
  }

  /** Takes one token if at least `reserve` tokens then remain. Otherwise takes none and returns false. */
  take(nowMs: number, reserve = 0): boolean {
    this.#refill(nowMs);
    const least = (1 + reserve) * UNITS_PER_TOKEN;
    for (;;) {
      const units = Atomics.load(this.#words, TOKENS);
      if (units < least) return false;
      if (Atomics.compareExchange(this.#words, TOKENS, units, units - UNITS_PER_TOKEN) === units) return true;
    }
  }

  /** Takes at most `tokens` tokens, but leaves at least `reserve` tokens. Returns the number of tokens taken. */
  takeUpTo(tokens: number, nowMs: number, reserve = 0): number {
    this.#refill(nowMs);
    for (;;) {
      const units = Atomics.load(this.#words, TOKENS);
      const free = Math.floor((units - reserve * UNITS_PER_TOKEN) / UNITS_PER_TOKEN);
      const taken = Math.min(tokens, Math.max(0, free));
      const left = units - taken * UNITS_PER_TOKEN;
      if (Atomics.compareExchange(this.#words, TOKENS, units, left) === units) return taken;
    }
  }

  /** Returns the number of tokens in the bucket, which may be a fraction. */
  level(nowMs: number): number {
    this.#refill(nowMs);
    return Atomics.load(this.#words, TOKENS) / UNITS_PER_TOKEN;
  }

  get ratePerSecond(): number {
    return this.#size[RATE] ?? 0;
  }

  get burst(): number {
    return this.#size[BURST] ?? 0;
  }

  /**
   * Adds the tokens gained since the last refill. Only the thread that advances the time of the last refill adds
   * tokens, so that each millisecond counts once. Adds none if the clock was set back.
   */
  #refill(nowMs: number): void {
    const nowWord = Math.floor(nowMs) | 0;
    const filled = Atomics.load(this.#words, FILLED_MS);
    const elapsedMs = (nowWord - filled) | 0;
    if (elapsedMs <= 0 && elapsedMs > -CLOCK_SET_BACK_MS) return;
    if (Atomics.compareExchange(this.#words, FILLED_MS, filled, nowWord) !== filled) return;
    if (elapsedMs > 0) this.#add((elapsedMs * this.ratePerSecond * UNITS_PER_TOKEN) / MS_PER_SECOND);
  }

  #add(units: number): void {
    const most = this.burst * UNITS_PER_TOKEN;
    for (;;) {
      const before = Atomics.load(this.#words, TOKENS);
      const after = Math.min(most, Math.round(before + units));
      if (Atomics.compareExchange(this.#words, TOKENS, before, after) === before) return;
    }
  }
}
