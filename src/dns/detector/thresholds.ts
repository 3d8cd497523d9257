/**
 * Thresholds of an account, from its own traffic: the 95th percentile of the rate over the window is `rate`,
 * five times that is `burst` (../../docs/dns-protection.md; the original's published rule). What an attack adds never counts.
 */

export interface Threshold {
  /** Queries a second. */
  readonly ratePerSecond: number;
  /** Queries. */
  readonly burst: number;
}

const MINUTE_MS = 60_000;
const PERCENTILE = 0.95;
/** "The burst threshold is calculated as five times the rate threshold." */
export const BURST_FACTOR = 5;
/** Below 100 queries a second the percentile of a quiet zone would make a bucket that one busy resolver empties. */
export const FLOOR_PER_SECOND = 100;
/** Recomputed every ten minutes, as the original is. */
const RECOMPUTE_MS = 10 * MINUTE_MS;
/** Half a minute makes a fair mean of the minute. */
const MIN_WATCHED_MS = MINUTE_MS / 2;

export const FLOOR: Threshold = { ratePerSecond: FLOOR_PER_SECOND, burst: FLOOR_PER_SECOND * BURST_FACTOR };

/** The threshold of a window's samples (mean queries a second, one each minute). */
export function thresholdOf(samples: Iterable<number>): Threshold {
  const rates = Float64Array.from(samples).sort();
  const p95 = rates[Math.ceil(rates.length * PERCENTILE) - 1] ?? 0;
  const ratePerSecond = Math.max(FLOOR_PER_SECOND, Math.ceil(p95));
  return { ratePerSecond, burst: ratePerSecond * BURST_FACTOR };
}

/**
 * A minute of the history: which one (since 1970), and its mean rate; -1 minus that where some zone was under attack in it. Just
 * -1 says nothing: it was saved before rates under attack were kept.
 */
export type RateSample = readonly [minute: number, ratePerSecond: number];

const underAttack = (ratePerSecond: number): number => -1 - ratePerSecond;
const rateOf = (sample: number): number => (sample < 0 ? -1 - sample : sample);

/** The rates of the window, minute by minute, and the threshold they make. */
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

  /** Whether the threshold rests on traffic that was seen, and not on the floor alone. */
  get founded(): boolean {
    return this.#computedMs !== Number.NEGATIVE_INFINITY;
  }

  /** Minutes of attack-free traffic that the threshold may rest on. */
  get minutes(): number {
    let count = 0;
    for (const sample of this.#samples.values()) if (sample >= 0) count++;
    return count;
  }

  /** Minutes that were watched, with an attack or without. */
  get watchedMinutes(): number {
    return this.#samples.size;
  }

  /**
   * Adds the queries of the time since the last call, those alone that a threshold may be learned of; call it every second. True
   * when the threshold is new.
   */
  add(queries: number, attack: boolean, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (this.#minute === -1) this.#openMinute(minute, nowMs);
    this.#queries += queries;
    this.#attack ||= attack;
    if (minute > this.#minute) this.#closeMinute(minute, nowMs);
    const due = nowMs - this.#computedMs >= RECOMPUTE_MS || this.#computedMs > nowMs;
    if (!due || this.#samples.size === 0) return false;
    this.#computedMs = nowMs;
    this.#threshold = thresholdOf([...this.#samples.values()].filter((sample) => sample !== -1).map(rateOf));
    return true;
  }

  /** What is kept, to be stored. */
  samples(): RateSample[] {
    return [...this.#samples];
  }

  /** Puts stored minutes back and computes at the next call of {@link add}. */
  restore(samples: Iterable<RateSample>): void {
    for (const [minute, rate] of samples) this.#samples.set(minute, rate);
  }

  /**
   * Minutes without this process are unknown, not quiet: a minute becomes a sample only when most of it was watched.
   * The percentile is of what was seen in the time that was watched.
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
