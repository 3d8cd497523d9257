/**
 * Token buckets by client, for clients that proved their address. A bucket that was left alone long enough is full and says
 * nothing: it need not be kept, so that only clients of the last seconds take memory, and no more than a fixed number of them.
 */

const MS_PER_SECOND = 1000;
/** More clients than connections find a place in the time in which a bucket fills. */
const MAX_CLIENTS = 10_000;

interface Bucket {
  tokens: number;
  filledMs: number;
}

export class ClientRates {
  /** In the order of last use. */
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxClients: number;

  constructor(maxClients = MAX_CLIENTS) {
    this.#maxClients = maxClients;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes a token from the client's bucket. False when there is none. */
  take(
    client: string,
    rate: { readonly ratePerSecond: number; readonly burst: number },
    nowMs: number,
  ): boolean {
    const bucket = this.#buckets.get(client) ?? { tokens: rate.burst, filledMs: nowMs };
    this.#buckets.delete(client);
    this.#buckets.set(client, bucket);
    this.#forgetOldest();
    const elapsedMs = Math.max(0, nowMs - bucket.filledMs);
    bucket.tokens = Math.min(rate.burst, bucket.tokens + (elapsedMs * rate.ratePerSecond) / MS_PER_SECOND);
    bucket.filledMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  #forgetOldest(): void {
    if (this.#buckets.size <= this.#maxClients) return;
    for (const oldest of this.#buckets.keys()) {
      this.#buckets.delete(oldest);
      return;
    }
  }
}
