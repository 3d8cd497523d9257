/**
 * Token buckets of clients with a proven address. Memory is bounded: the least recently used bucket is deleted. An
 * idle bucket becomes full, so it does not differ from a new one.
 */

const MS_PER_SECOND = 1000;
/** Maximum number of buckets: more than the clients that connect while an empty bucket refills. */
const MAX_CLIENTS = 10_000;

interface Bucket {
  tokens: number;
  filledMs: number;
}

export class ClientRates {
  /** Token buckets by client, least recently used first. */
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxClients: number;

  constructor(maxClients = MAX_CLIENTS) {
    this.#maxClients = maxClients;
  }

  get size(): number {
    return this.#buckets.size;
  }

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
