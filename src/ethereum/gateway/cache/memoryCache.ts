import type { Deflated } from '../../../platform/contentCoding/index.ts';
import { KeptAnswer } from './keptAnswer.ts';

/** What an entry costs besides its bytes: key, map slot, objects. */
const ENTRY_OVERHEAD_BYTES = 200;

/** Whose word an answer is, where only one node gave it. */
export interface Said {
  readonly by: string;
  readonly untilMs: number;
  /** How often the node had been caught lying by then. */
  readonly lies: number;
}

class Entry extends KeptAnswer {
  readonly key: string;
  readonly said: Said | undefined;
  /** Whether it was asked for since it was put in, or last spared. */
  used = false;
  readonly #cache: MemoryCache;

  constructor(bytes: Buffer, { key, said }: { key: string; said: Said | undefined }, cache: MemoryCache) {
    super(bytes);
    this.key = key;
    this.said = said;
    this.#cache = cache;
  }

  get cost(): number {
    return (
      2 * this.key.length + this.bytes.length + (this.deflated?.blocks.length ?? 0) + ENTRY_OVERHEAD_BYTES
    );
  }

  override keep(deflated: Deflated): void {
    this.#cache.change(this, () => super.keep(deflated));
  }
}

/**
 * Answers in memory up to a bound of bytes, with their compressed forms. The oldest goes first, but one that was asked for
 * meanwhile is spared once: a hit then changes a flag and not the order, which would cost more than all the rest of it.
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

  get(key: string): (KeptAnswer & { readonly said: Said | undefined }) | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.used = true;
    return entry;
  }

  /** The answer as it is at hand from now on; where it is too large, for this once. */
  put(key: string, answer: Buffer, said?: Said): KeptAnswer {
    this.drop(key);
    const entry = new Entry(answer, { key, said }, this);
    if (entry.cost > this.#maxBytes) return entry;
    this.#entries.set(key, entry);
    this.#bytes += entry.cost;
    this.#shrink();
    return entry;
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

  /** For an entry: it changes, if it is still here. */
  change(entry: Entry, change: () => void): void {
    if (this.#entries.get(entry.key) !== entry) return;
    this.#bytes -= entry.cost;
    change();
    this.#bytes += entry.cost;
    this.#shrink();
  }

  #shrink(): void {
    // A map keeps the order in which keys were set, also of those set while it is walked.
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#maxBytes) return;
      if (entry.used) this.#spare(oldest, entry);
      else this.drop(oldest);
    }
  }

  #spare(key: string, entry: Entry): void {
    entry.used = false;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }
}
