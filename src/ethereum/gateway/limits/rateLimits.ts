import { TokenBucket } from './tokenBucket.ts';

/** Buckets that are kept: an attacker with more addresses only makes the oldest start afresh. */
const MAX_BUCKETS = 100_000;
/** So many of the oldest are looked at when room is needed. */
const SWEEP = 16;

/** How many calls each of many callers may make. */
export interface Rates {
  /** Takes so many calls of a caller. Returns 0, or after how many seconds they would be let through. Throws NotYetAdmitted. */
  take(caller: string, ratePerSecond: number, calls: number): number;
  /** Takes back a `take` of calls that are not carried out. Left out: it never throws, so that there is none. */
  giveBack?(caller: string, calls: number): void;
}

/** A bucket for each of many callers. */
export class RateLimits implements Rates {
  readonly #buckets = new Map<string, { readonly bucket: TokenBucket; readonly ratePerSecond: number }>();

  take(caller: string, ratePerSecond: number, calls: number): number {
    const nowMs = performance.now();
    let entry = this.#buckets.get(caller);
    if (entry === undefined || entry.ratePerSecond !== ratePerSecond) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#makeRoom(nowMs);
      entry = { bucket: new TokenBucket(ratePerSecond, nowMs), ratePerSecond };
      this.#buckets.set(caller, entry);
    }
    return entry.bucket.take(calls, nowMs);
  }

  #makeRoom(nowMs: number): void {
    let looked = 0;
    let oldest: string | undefined;
    for (const [caller, { bucket }] of this.#buckets) {
      oldest ??= caller;
      if (bucket.isFull(nowMs)) this.#buckets.delete(caller);
      if (++looked >= SWEEP) break;
    }
    if (this.#buckets.size >= MAX_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
