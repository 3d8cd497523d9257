import type { Anchor, AnswerStore } from './answerStore.ts';
import type { KeptAnswer } from './keptAnswer.ts';
import { MemoryCache, type Said } from './memoryCache.ts';

/** Of the memory for answers, what those of the head may use: a share, as each new head empties it. */
const HEAD_SHARE = 0.25;
/** The anchor is moved along after so many blocks: often enough to be near, seldom enough to cost nothing. */
const ANCHOR_EVERY_BLOCKS = 32;

/** What one process has found of the store that several have open. */
export interface StoreState {
  readonly isOpen: boolean;
  readonly anchorNumber: number;
}

export interface AnswerCacheOptions {
  readonly network: string;
  readonly store: AnswerStore;
  readonly memoryBytes: number;
  /** How long an answer is kept that only one node gave. */
  readonly unconfirmedMs: number;
}

/** The part of the store's keys that tells answers which were confirmed from those of versions that confirmed none. */
const CONFIRMED = 'confirmed';

/**
 * Answers of one network. Those that depend on final blocks alone, and are proven or said by two nodes, are cached for good, in
 * memory and in the store; what one node alone says is cached in memory for a while, and no longer than that node is
 * trusted. Answers that depend on blocks which may still be replaced live as long as the head does.
 */
export class AnswerCache {
  readonly #network: string;
  readonly #store: AnswerStore;
  readonly #final: MemoryCache;
  readonly #head: MemoryCache;
  /** Grows with each head: what was asked for under another head is not put in. */
  #epoch = 0;
  readonly #unconfirmedMs: number;
  /** How often nodes were caught lying, by their names. */
  readonly #lies = new Map<string, number>();
  /** The store is of another chain until its anchor was compared. */
  #storeIsOurs = false;
  #anchorNumber = -1;

  constructor({ network, store, memoryBytes, unconfirmedMs }: AnswerCacheOptions) {
    this.#unconfirmedMs = unconfirmedMs;
    this.#network = network;
    this.#store = store;
    this.#head = new MemoryCache(memoryBytes * HEAD_SHARE);
    this.#final = new MemoryCache(memoryBytes * (1 - HEAD_SHARE));
  }

  get epoch(): number {
    return this.#epoch;
  }

  getFinal(key: string): KeptAnswer | undefined {
    const cached = this.#final.get(key);
    if (cached !== undefined && (cached.said === undefined || this.#isBelieved(cached.said))) return cached;
    if (!this.#storeIsOurs) return undefined;
    const stored = this.#store.get(this.#storeKey(key));
    if (stored === undefined) return undefined;
    return this.#final.put(key, Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength));
  }

  putFinal(key: string, answer: Buffer): void {
    this.#final.put(key, answer);
    // Without an anchor nothing would tell at the next start which chain the answers are of.
    if (this.#storeIsOurs && this.#anchorNumber >= 0) this.#store.put(this.#storeKey(key), answer);
  }

  /** Keeps for a while what one node alone says. */
  putSaid(key: string, answer: Buffer, by: string): void {
    if (this.#unconfirmedMs === 0) return;
    const untilMs = performance.now() + this.#unconfirmedMs;
    this.#final.put(key, answer, { by, untilMs, lies: this.#lies.get(by) ?? 0 });
  }

  /** Drops what a node alone said: another one says otherwise. */
  drop(key: string): void {
    this.#final.drop(key);
  }

  /** A node was caught lying: what it alone said is gone. */
  distrust(node: string): void {
    this.#lies.set(node, (this.#lies.get(node) ?? 0) + 1);
    this.headChanged();
  }

  #isBelieved({ by, untilMs, lies }: Said): boolean {
    return lies === (this.#lies.get(by) ?? 0) && performance.now() < untilMs;
  }

  getHead(key: string): KeptAnswer | undefined {
    return this.#head.get(key);
  }

  /** Keeps an answer that was asked for in an epoch, if that still lasts. */
  putHead(key: string, answer: Buffer, epoch: number): void {
    if (epoch === this.#epoch) this.#head.put(key, answer);
  }

  headChanged(): void {
    this.#epoch++;
    this.#head.clear();
  }

  /**
   * Opens the store once the chain is known: what it holds must be of this chain, which the block that was final when
   * it was written tells. Returns whether it had to be emptied.
   */
  async open(chainId: string, hashOf: (number: number) => Promise<string | undefined>): Promise<boolean> {
    const anchor = this.#store.anchor(this.#network);
    if (anchor !== undefined) {
      const hash = anchor.chainId === chainId ? await hashOf(anchor.number) : 'another chain';
      if (hash === undefined) return false;
      if (hash !== anchor.hash) {
        await this.#store.clear();
        this.#storeIsOurs = true;
        return true;
      }
      this.#anchorNumber = anchor.number;
    }
    this.#storeIsOurs = true;
    return false;
  }

  get isOpen(): boolean {
    return this.#storeIsOurs;
  }

  /** Whether the store may be read, and whether it may be added to: for another process that has it open. */
  get storeState(): StoreState {
    return { isOpen: this.#storeIsOurs, anchorNumber: this.#anchorNumber };
  }

  /** Another process has found what the store is of. */
  followStore({ isOpen, anchorNumber }: StoreState): void {
    this.#storeIsOurs = isOpen;
    this.#anchorNumber = anchorNumber;
  }

  /** Whether the anchor should be moved to a block that is now final. */
  wantsAnchor(finalized: number): boolean {
    return (
      this.#storeIsOurs && (this.#anchorNumber < 0 || finalized >= this.#anchorNumber + ANCHOR_EVERY_BLOCKS)
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
