/**
 * Token buckets of clients whose address is proven (TCP). To bound memory, the least recently used bucket is deleted.
 * Usually this has no effect, because an idle bucket becomes full, and a new bucket is full, too.
 */

const MS_PER_SECOND = 1000;
/** Maximum number of token buckets. Fewer clients connect in the time in which an empty bucket becomes full. */
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

  /** Takes one token from the client's bucket. Returns false if the bucket is empty. */
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
