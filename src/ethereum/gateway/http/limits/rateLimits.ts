import { TokenBucket } from './tokenBucket.ts';

/** Maximum number of token buckets. Above it, the oldest is evicted; its client then gets a new, full bucket. */
const MAX_BUCKETS = 100_000;
const SWEEP = 16;

export interface Rates {
  /**
   * Takes calls from the limit of a client address or API key. Returns 0 if they are admitted, otherwise the wait in
   * seconds. Throws NotYetAdmitted if the decision is pending.
   */
  take(caller: string, ratePerSecond: number, calls: number): number;
  /** Refunds calls that will not run. */
  refund?(caller: string, calls: number): void;
}

export class RateLimits implements Rates {
  readonly #burstSeconds: number;
  readonly #buckets = new Map<string, { readonly bucket: TokenBucket; readonly ratePerSecond: number }>();

  /** `burstSeconds`: time in which an empty bucket becomes full. Default: 1. */
  constructor({ burstSeconds = 1 }: { readonly burstSeconds?: number } = {}) {
    this.#burstSeconds = burstSeconds;
  }

  take(caller: string, ratePerSecond: number, calls: number): number {
    const nowMs = performance.now();
    let entry = this.#buckets.get(caller);
    if (entry === undefined || entry.ratePerSecond !== ratePerSecond) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#makeRoom(nowMs);
      entry = { bucket: new TokenBucket(ratePerSecond, nowMs, this.#burstSeconds), ratePerSecond };
      this.#buckets.set(caller, entry);
    }
    return entry.bucket.take(calls, nowMs);
  }

  refund(caller: string, calls: number): void {
    this.#buckets.get(caller)?.bucket.refund(calls);
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
