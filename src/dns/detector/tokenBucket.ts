/**
 * A token bucket: `ratePerSecond` tokens come in, at most `burst` are kept, a query that pays takes one. It lies in shared
 * memory, so that all threads that decide about queries take from one bucket; nobody ever waits for a lock.
 */

const MS_PER_SECOND = 1000;
/** Tokens are counted in thousandths: what a whole number of tokens a second brings in a millisecond is a whole number of them. */
const UNITS_PER_TOKEN = 1000;
/** The most tokens that fit 32 bits. Five seconds of 400,000 queries each: more than one machine passes on. */
const MAX_BURST = 2_000_000;
/** Clocks read by two threads in the same moment differ by less; a step back by more is a clock that was set. */
const CLOCK_SET_BACK_MS = 1000;

const TOKENS = 0;
/** When it was filled last: milliseconds modulo 2^32. */
const FILLED_MS = 1;
const RATE = 1;
const BURST = 2;
/** Two 32-bit words and two 64-bit numbers. */
export const BUCKET_BYTES = 24;

/** A bucket that somebody made in this memory. `offset` is a multiple of eight. */
export class TokenBucket {
  readonly #words: Int32Array;
  readonly #size: Float64Array;

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#words = new Int32Array(memory, offset, BUCKET_BYTES / 4);
    this.#size = new Float64Array(memory, offset, BUCKET_BYTES / 8);
  }

  /** New sizes keep the tokens that are in it as far as they fit; only the room that is added comes filled. */
  resize(ratePerSecond: number, burst: number, nowMs: number): void {
    const wanted = Math.min(MAX_BURST, burst);
    if (ratePerSecond === this.ratePerSecond && wanted === this.burst) return;
    const grown = Math.max(0, wanted - this.burst);
    this.#refill(nowMs);
    this.#size[RATE] = ratePerSecond;
    this.#size[BURST] = wanted;
    this.#add(grown * UNITS_PER_TOKEN);
  }

  /** Takes a token and leaves `reserve` of them for others. False when there is none to take. */
  take(nowMs: number, reserve = 0): boolean {
    this.#refill(nowMs);
    const least = (1 + reserve) * UNITS_PER_TOKEN;
    for (;;) {
      const units = Atomics.load(this.#words, TOKENS);
      if (units < least) return false;
      if (Atomics.compareExchange(this.#words, TOKENS, units, units - UNITS_PER_TOKEN) === units) return true;
    }
  }

  /** What so many calls of {@link take} take together. */
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

  /** Tokens in the bucket. */
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

  /** Whoever moves the clock on brings the tokens of that time: each millisecond counts once. A clock set back brings none. */
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
