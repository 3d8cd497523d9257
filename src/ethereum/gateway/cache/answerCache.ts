import type { Anchor, AnswerStore } from './answerStore.ts';
import { MemoryCache, type UnconfirmedSource } from './memoryCache.ts';

/** Share of the cache memory for results that depend on the head (newest block). A new head removes these results. */
const HEAD_SHARE = 0.25;
/**
 * The anchor is a final block that is stored with the results on disk, and identifies their chain. After this number
 * of blocks, a newer final block becomes the anchor: rarely enough to be cheap, often enough to stay near the head.
 */
const ANCHOR_EVERY_BLOCKS = 32;

/** State of the result store on disk. The process that opened the store sends this state to the other processes. */
export interface StoreState {
  readonly isOpen: boolean;
  readonly anchorNumber: number;
}

export interface AnswerCacheOptions {
  readonly network: string;
  readonly store: AnswerStore;
  readonly memoryBytes: number;
}

/** A larger result is cached on disk only, so that it does not evict many others: this size, or a share of the memory. */
const MAX_MEMORY_RESULT_BYTES = 1024 * 1024;
const MAX_MEMORY_RESULT_SHARE = 1 / 16;

/** Time in milliseconds for which a result of only one node is cached. A wrong result is served at most this long. */
const UNCONFIRMED_MS = 3_600_000;

/** Key prefix for proven and confirmed results on disk. Older versions stored unconfirmed ones without a prefix. */
const CONFIRMED = 'confirmed';

/**
 * Cache of the results of one network, in three classes.
 * - Results that depend only on final blocks, and are proven or confirmed by a second node: never expire; kept in
 *   memory and in the store.
 * - Results for final blocks that only one node returned: kept in memory for up to an hour, and only while that node is
 *   trusted.
 * - Results that depend on replaceable blocks: kept until the head changes.
 */
export class AnswerCache {
  readonly #network: string;
  readonly #store: AnswerStore;
  readonly #final: MemoryCache;
  readonly #head: MemoryCache;
  readonly #maxMemoryResultBytes: number;
  /** Incremented at each new head. A result for the head is not cached if the head changed during the request. */
  #epoch = 0;
  readonly #wrongResults = new Map<string, number>();
  /** True after the anchor was compared with the nodes. Before that, stored results may belong to another chain. */
  #isStoreVerified = false;
  #anchorNumber = -1;

  constructor({ network, store, memoryBytes }: AnswerCacheOptions) {
    this.#network = network;
    this.#store = store;
    this.#head = new MemoryCache(memoryBytes * HEAD_SHARE);
    this.#final = new MemoryCache(memoryBytes * (1 - HEAD_SHARE));
    this.#maxMemoryResultBytes = Math.max(MAX_MEMORY_RESULT_BYTES, memoryBytes * MAX_MEMORY_RESULT_SHARE);
  }

  get epoch(): number {
    return this.#epoch;
  }

  getFinal(key: string): Buffer | undefined {
    return this.#finalInMemory(key) ?? this.#finalInStore(key);
  }

  /** Returns a result that is final or depends on the head. The store is read last, because it is on disk. */
  getFinalOrHead(key: string): Buffer | undefined {
    return this.#finalInMemory(key) ?? this.getHead(key) ?? this.#finalInStore(key);
  }

  #finalInMemory(key: string): Buffer | undefined {
    const cached = this.#final.get(key);
    return cached !== undefined && (cached.said === undefined || this.#isTrusted(cached.said))
      ? cached.bytes
      : undefined;
  }

  #finalInStore(key: string): Buffer | undefined {
    if (!this.#isStoreVerified) return undefined;
    const stored = this.#store.get(this.#storeKey(key));
    if (stored === undefined) return undefined;
    const answer = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
    if (answer.length <= this.#maxMemoryResultBytes) this.#final.put(key, answer);
    return answer;
  }

  putFinal(key: string, answer: Buffer): void {
    if (answer.length <= this.#maxMemoryResultBytes) this.#final.put(key, answer);
    else this.#final.drop(key);
    // Without an anchor, the next start could not determine the chain of the stored result.
    if (this.#isStoreVerified && this.#anchorNumber >= 0) this.#store.put(this.#storeKey(key), answer);
  }

  /** Caches a result that only one node returned, in memory only, for `UNCONFIRMED_MS`. */
  putUnconfirmed(key: string, answer: Buffer, by: string): void {
    const untilMs = performance.now() + UNCONFIRMED_MS;
    this.#final.put(key, answer, { by, untilMs, wrongResults: this.#wrongResults.get(by) ?? 0 });
  }

  drop(key: string): void {
    this.#final.drop(key);
  }

  /** Called if a node returned a wrong result. Invalidates its unconfirmed results, and all results for the head. */
  distrust(node: string): void {
    this.#wrongResults.set(node, (this.#wrongResults.get(node) ?? 0) + 1);
    this.headChanged();
  }

  #isTrusted({ by, untilMs, wrongResults }: UnconfirmedSource): boolean {
    return wrongResults === (this.#wrongResults.get(by) ?? 0) && performance.now() < untilMs;
  }

  getHead(key: string): Buffer | undefined {
    return this.#head.get(key)?.bytes;
  }

  /** Caches a result for the current head. Does nothing if the head has changed since `epoch`. */
  putHead(key: string, answer: Buffer, epoch: number): void {
    if (epoch === this.#epoch) this.#head.put(key, answer);
  }

  headChanged(): void {
    this.#epoch++;
    this.#head.clear();
  }

  /** Opens the store for the nodes' chain. If the anchor is not on it, empties the store and resolves with true. */
  async open(chainId: string, hashOf: (number: number) => Promise<string | undefined>): Promise<boolean> {
    const anchor = this.#store.anchor(this.#network);
    if (anchor !== undefined) {
      const hash = anchor.chainId === chainId ? await hashOf(anchor.number) : 'another chain';
      if (hash === undefined) return false;
      if (hash !== anchor.hash) {
        await this.#store.clear();
        this.#isStoreVerified = true;
        return true;
      }
      this.#anchorNumber = anchor.number;
    }
    this.#isStoreVerified = true;
    return false;
  }

  get isOpen(): boolean {
    return this.#isStoreVerified;
  }

  get storeState(): StoreState {
    return { isOpen: this.#isStoreVerified, anchorNumber: this.#anchorNumber };
  }

  /** Applies the store state that another process determined. */
  applyStoreState({ isOpen, anchorNumber }: StoreState): void {
    this.#isStoreVerified = isOpen;
    this.#anchorNumber = anchorNumber;
  }

  /** Returns true if the final block with this number should become the anchor. */
  wantsAnchor(finalized: number): boolean {
    return (
      this.#isStoreVerified &&
      (this.#anchorNumber < 0 || finalized >= this.#anchorNumber + ANCHOR_EVERY_BLOCKS)
    );
  }

  setAnchor(anchor: Anchor): void {
    this.#anchorNumber = anchor.number;
    this.#store.setAnchor(this.#network, anchor);
  }

  #storeKey(key: string): string {
    return `${CONFIRMED} ${this.#network} ${key}`;
  }
}
