/** What an entry costs besides its bytes: key, map slot, objects. */
const ENTRY_OVERHEAD_BYTES = 200;

/** Whose word an answer is, where only one node gave it. */
export interface Said {
  readonly by: string;
  readonly untilMs: number;
  /** How often the node had been caught lying by then. */
  readonly lies: number;
}

interface Entry {
  readonly answer: Buffer;
  readonly said: Said | undefined;
  /** Whether it was asked for since it was put in, or last spared. */
  used: boolean;
}

/**
 * Answers in memory up to a bound of bytes. The oldest goes first, but one that was asked for meanwhile is spared once: a
 * hit then changes a flag and not the order, which would cost more than all the rest of it.
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

  get(key: string): Buffer | undefined {
    return this.entry(key)?.answer;
  }

  entry(key: string): { readonly answer: Buffer; readonly said: Said | undefined } | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.used = true;
    return entry;
  }

  put(key: string, answer: Buffer, said?: Said): void {
    this.drop(key);
    const cost = costOf(key, answer);
    if (cost > this.#maxBytes) return;
    this.#entries.set(key, { answer, said, used: false });
    this.#bytes += cost;
    // A map keeps the order in which keys were set, also of those set while it is walked.
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      if (entry.used) this.#spare(oldest, entry);
      else this.drop(oldest);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #spare(key: string, entry: Entry): void {
    entry.used = false;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= costOf(key, entry.answer);
  }
}

const costOf = (key: string, answer: Buffer): number => 2 * key.length + answer.length + ENTRY_OVERHEAD_BYTES;
