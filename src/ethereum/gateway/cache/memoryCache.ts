/** Memory in bytes that a cache entry needs besides its key and result, for the map slot and objects. */
const ENTRY_OVERHEAD_BYTES = 200;

export interface UnconfirmedSource {
  readonly by: string;
  readonly untilMs: number;
  /** Number of wrong results that the node had returned when this result was cached. */
  readonly wrongResults: number;
}

interface Entry {
  readonly bytes: Buffer;
  /** Source of an unconfirmed result. Undefined for all other results. */
  readonly said: UnconfirmedSource | undefined;
  readonly cost: number;
  /** Set when the entry is read. Cleared when eviction skips the entry. */
  used: boolean;
}

/**
 * In-memory cache limited in bytes. Evicts the oldest entry first, but skips an entry one time if it was read (CLOCK).
 */
export class MemoryCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Pick<Entry, 'bytes' | 'said'> | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.used = true;
    return entry;
  }

  /** Stores a result. Does nothing if the result alone exceeds the size limit. */
  put(key: string, bytes: Buffer, said?: UnconfirmedSource): void {
    this.drop(key);
    const cost = 2 * key.length + bytes.length + ENTRY_OVERHEAD_BYTES;
    if (cost > this.#maxBytes) return;
    this.#entries.set(key, { bytes, said, cost, used: false });
    this.#bytes += cost;
    this.#evict();
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.cost;
  }

  #evict(): void {
    // The loop also visits entries that it adds again, because a Map iterates in insertion order.
    for (const [key, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      if (!entry.used) {
        this.drop(key);
        continue;
      }
      entry.used = false;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
  }
}
