/** What an entry costs besides its bytes: key, map slot, objects. */
const ENTRY_OVERHEAD_BYTES = 200;

/** Answers in memory up to a bound of bytes; the one that was used longest ago goes first. */
export class MemoryCache {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, Buffer>();
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

  get(key: string): Buffer | undefined {
    const answer = this.#entries.get(key);
    if (answer === undefined) return undefined;
    // A map keeps the order in which keys were set: the first is the one not used for longest.
    this.#entries.delete(key);
    this.#entries.set(key, answer);
    return answer;
  }

  put(key: string, answer: Buffer): void {
    this.#drop(key);
    const cost = costOf(key, answer);
    if (cost > this.#maxBytes) return;
    this.#entries.set(key, answer);
    this.#bytes += cost;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #drop(key: string): void {
    const answer = this.#entries.get(key);
    if (answer === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= costOf(key, answer);
  }
}

const costOf = (key: string, answer: Buffer): number => 2 * key.length + answer.length + ENTRY_OVERHEAD_BYTES;
