/**
 * Learns the threshold of an account from its traffic, without attack traffic. The rate is the 95th percentile of the
 * per-minute query rates in the learning window. The burst is five times the rate, as Cloudflare has published
 * (docs/reference/dns-protection.md).
 */

export interface Threshold {
  /** Number of tokens that the token bucket gains per second. */
  readonly ratePerSecond: number;
  readonly burst: number;
}

const MINUTE_MS = 60_000;
const PERCENTILE = 0.95;
/** Cloudflare: "The burst threshold is calculated as five times the rate threshold." */
export const BURST_FACTOR = 5;
/** Minimum rate in queries per second. At a lower rate, one busy resolver would empty a quiet zone's token bucket. */
export const FLOOR_PER_SECOND = 100;
/** The threshold is recomputed every ten minutes, as at Cloudflare. */
const RECOMPUTE_MS = 10 * MINUTE_MS;
/** A minute becomes a sample if at least this part of it was observed. A mean of half a minute is accurate enough. */
const MIN_WATCHED_MS = MINUTE_MS / 2;

export const FLOOR: Threshold = { ratePerSecond: FLOOR_PER_SECOND, burst: FLOOR_PER_SECOND * BURST_FACTOR };

/** Returns the threshold for the samples of a learning window. A sample is the mean query rate of one minute. */
export function thresholdOf(samples: Iterable<number>): Threshold {
  const rates = Float64Array.from(samples).sort();
  const p95 = rates[Math.ceil(rates.length * PERCENTILE) - 1] ?? 0;
  const ratePerSecond = Math.max(FLOOR_PER_SECOND, Math.ceil(p95));
  return { ratePerSecond, burst: ratePerSecond * BURST_FACTOR };
}

/**
 * Number of a minute (since 1970) and mean query rate of this minute. The rate is stored as -1 - rate if a zone was
 * under attack. The value -1 is ignored: older versions stored it instead of a rate.
 */
export type RateSample = readonly [minute: number, ratePerSecond: number];

const underAttack = (ratePerSecond: number): number => -1 - ratePerSecond;
const rateOf = (sample: number): number => (sample < 0 ? -1 - sample : sample);

/** Query rates per minute over the learning window, and the threshold computed from them. */
export class RateHistory {
  readonly #windowMinutes: number;
  readonly #samples = new Map<number, number>();
  #minute = -1;
  #sinceMs = 0;
  #queries = 0;
  #attack = false;
  #computedMs = Number.NEGATIVE_INFINITY;
  #threshold: Threshold = FLOOR;

  constructor(windowMs: number) {
    this.#windowMinutes = Math.ceil(windowMs / MINUTE_MS);
  }

  get threshold(): Threshold {
    return this.#threshold;
  }

  /** Whether the threshold was computed from observed traffic. Before that, it is the minimum. */
  get isLearned(): boolean {
    return this.#computedMs !== Number.NEGATIVE_INFINITY;
  }

  /** Number of observed minutes without an attack. */
  get minutes(): number {
    let count = 0;
    for (const sample of this.#samples.values()) if (sample >= 0) count++;
    return count;
  }

  /** Number of observed minutes, with or without an attack. */
  get watchedMinutes(): number {
    return this.#samples.size;
  }

  /**
   * Adds the number of queries since the last call that may raise the threshold. `attack`: whether a zone is under
   * attack. Call every second. Returns true if the threshold was recomputed.
   */
  add(queries: number, attack: boolean, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    // If the clock was set back, the open minute would end only when that time is reached again.
    if (this.#minute === -1 || minute < this.#minute) this.#openMinute(minute, nowMs);
    this.#queries += queries;
    this.#attack ||= attack;
    if (minute > this.#minute) this.#closeMinute(minute, nowMs);
    const due = nowMs - this.#computedMs >= RECOMPUTE_MS || this.#computedMs > nowMs;
    if (!due || this.#samples.size === 0) return false;
    this.#computedMs = nowMs;
    this.#threshold = thresholdOf([...this.#samples.values()].filter((sample) => sample !== -1).map(rateOf));
    return true;
  }

  samples(): RateSample[] {
    return [...this.#samples];
  }

  /** Restores the stored query rates. The next {@link add} computes the threshold from them. */
  restore(samples: Iterable<RateSample>): void {
    for (const [minute, rate] of samples) this.#samples.set(minute, rate);
  }

  /**
   * Ends the current minute. The minute becomes a sample if at least half of it was observed: a minute in which the
   * process did not run has an unknown rate, not a low one.
   */
  #closeMinute(minute: number, nowMs: number): void {
    const watchedMs = nowMs - this.#sinceMs;
    const rate = (this.#queries * 1000) / watchedMs;
    if (watchedMs >= MIN_WATCHED_MS) this.#samples.set(this.#minute, this.#attack ? underAttack(rate) : rate);
    for (const old of this.#samples.keys()) {
      if (old >= minute - this.#windowMinutes) break;
      this.#samples.delete(old);
    }
    this.#openMinute(minute, nowMs);
  }

  #openMinute(minute: number, nowMs: number): void {
    this.#minute = minute;
    this.#sinceMs = nowMs;
    this.#queries = 0;
    this.#attack = false;
  }
}
