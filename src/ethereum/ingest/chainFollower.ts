import { defaultFinality, type Finality, finalNumber, NodeError, type NodeHeads } from '../nodes/index.ts';
import {
  type Hash,
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  MAX_RANGE_BLOCKS,
  type TraceStore,
} from '../traces/index.ts';
import { ASSUMED_FINAL_DEPTH } from './assumedFinalDepth.ts';
import { fetchBlocks, range } from './fetchBlocks.ts';
import { FinalityError, findFork } from './fork.ts';
import type { IndexerObserver } from './indexerObserver.ts';
import type { ChainSource } from './pooledSource.ts';
import { rewind } from './rewind.ts';

/** Maximum number of new blocks per pass, because a request for an older block waits until a running pass ends. */
const MAX_BLOCKS_PER_PASS = 256;

/** Maximum number of blocks with which an empty local index begins, if the shared index lags. */
const MAX_NEWER_BLOCKS = 8_192;

/** Maximum number of replaced blocks that are removed together with the first new ones. Others are removed before. */
const MAX_UNDONE_WITH_NEW = 1024;

export interface ChainFollowerOptions {
  /** Number of the first block to index. Default: the first of the latest MAX_RANGE_BLOCKS blocks. */
  readonly fromBlock?: number;
  /**
   * With a shared index: returns the number of its highest block up to a number, so that an empty local index begins
   * with the block after it.
   */
  readonly sharedHead?: (upTo: number) => Promise<number | undefined>;
  /** Rule that decides which blocks are final. Default: the result of `defaultFinality` for the chain. */
  readonly finality?: Finality;
}

/** Change at the head of the index: the blocks from number `undoFrom` on were removed, then `blocks` were added. */
export interface HeadChange {
  readonly undoFrom?: number;
  readonly blocks: readonly IndexedBlock[];
}

export interface ChainFollowerDependencies {
  readonly store: TraceStore;
  readonly source: ChainSource;
  readonly observer: Pick<IndexerObserver, 'indexed' | 'reorganised'>;
  readonly write: (change: IndexChange) => Promise<void>;
  /** Called with each change in order, after the change was applied to the index. */
  readonly followed: (change: HeadChange) => void;
  readonly signal: AbortSignal;
  readonly isFailing: () => boolean;
}

/** Moves the head of the index to the nodes' head, pass by pass. The caller must not let passes overlap. */
export class ChainFollower {
  readonly #options: ChainFollowerOptions;
  readonly #dependencies: ChainFollowerDependencies;
  #heads: NodeHeads | undefined;
  /** Block number of the index's head; -1 if the index is empty; undefined before the first pass has read it. */
  #indexHead: number | undefined;
  #finality: Finality = 'node';
  /** Numbers of damaged blocks that were removed from the index, and that a pass may have to fetch. */
  #removed: readonly number[] = [];
  /** Hash of the nodes' head at which no node returned a removed block. */
  #refillFailedAt: Hash | undefined;

  constructor(options: ChainFollowerOptions, dependencies: ChainFollowerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Newest known heads of the chain. The relay uses the same ones. */
  get lastHeads(): NodeHeads | undefined {
    return this.#dependencies.source.knownHeads ?? this.#heads;
  }

  /** Number of blocks that the index lags behind the nodes' newest known head; undefined before the first pass. */
  get lagBlocks(): number | undefined {
    const { lastHeads } = this;
    if (lastHeads === undefined || this.#indexHead === undefined) return undefined;
    return Math.max(0, lastHeads.latest.number - this.#indexHead);
  }

  async freshHeads(): Promise<NodeHeads | undefined> {
    if (!this.#dependencies.signal.aborted) {
      try {
        this.#heads = await this.#dependencies.source.freshHeads();
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
      }
    }
    return this.lastHeads;
  }

  /**
   * To be called after damaged blocks were removed from the index. The next pass fetches those that are not final and,
   * with a shared index, the others.
   */
  removed(numbers: readonly number[]): void {
    this.#removed = [...this.#removed, ...numbers];
  }

  /** Runs one pass: removes replaced blocks, then adds new blocks. Resolves with true if more new blocks remain. */
  async catchUp(): Promise<boolean> {
    const { store, source, observer, signal, isFailing } = this.#dependencies;
    await this.#bindChain();
    // After a failure, the heads of the last polls may be blocks that the chain has replaced since.
    const heads = await (isFailing() ? source.freshHeads() : source.heads());
    const head = await store.head();
    const indexHead = head?.number;
    this.#indexHead = indexHead ?? -1;
    this.#heads = heads;

    let undoFrom = await this.#undoFrom(heads);
    const first = await this.#firstToAdd(heads, indexHead, undoFrom);
    if (undoFrom !== undefined) await this.#reorganised(undoFrom, indexHead ?? undoFrom);

    const last = Math.min(heads.latest.number, first + MAX_BLOCKS_PER_PASS - 1);
    let written: Promise<void> = Promise.resolve();
    for await (const blocks of fetchBlocks(range(first, last), { store, source, signal })) {
      await written;
      written = this.#apply({ blocks, ...(undoFrom !== undefined && { undoFrom }) });
      written.catch(() => undefined); // awaited below, or with the next batch
      undoFrom = undefined;
      observer.indexed(blocks, heads.latest.number);
    }
    await written;
    if (undoFrom !== undefined) await this.#apply({ undoFrom, blocks: [] });
    await this.#refill(heads);
    await this.#finalize(heads);
    return last < heads.latest.number;
  }

  /**
   * With a shared index, fetches removed final blocks again: no other part fetches blocks below the head, and reads do
   * not use the local blocks below a gap. After a block that no node returns, the rest is fetched at the next head, this
   * block last, because the others would often fail too, and new blocks wait meanwhile.
   */
  async #refill({ latest }: NodeHeads): Promise<void> {
    const { store, source, signal, write } = this.#dependencies;
    if (this.#options.sharedHead === undefined) this.#removed = [];
    if (latest.hash === this.#refillFailedAt) return;
    for (let [number] = this.#removed; number !== undefined; [number] = this.#removed) {
      const others = this.#removed.slice(1);
      try {
        if ((await store.firstMissing(number, number)) !== undefined)
          for await (const blocks of fetchBlocks([number], { store, source, signal }))
            await write({ blocks });
        this.#removed = others;
      } catch (error) {
        if (!(error instanceof NodeError || error instanceof IndexConflictError)) throw error;
        this.#removed = [...others, number];
        this.#refillFailedAt = latest.hash;
        return;
      }
    }
  }

  /** Returns the number of the first block to fetch: the one after the index's head, or the first replaced one. */
  async #firstToAdd(
    heads: NodeHeads,
    indexHead: number | undefined,
    undoFrom: number | undefined,
  ): Promise<number> {
    if (indexHead === undefined) return this.#firstBlock(heads);
    if (undoFrom === undefined) return indexHead + 1;
    const crossesGap = (await this.#dependencies.store.firstMissing(undoFrom, indexHead)) !== undefined;
    return undoFrom === 0 || crossesGap ? Math.max(undoFrom, await this.#firstBlock(heads)) : undoFrom;
  }

  /** Reports a reorganisation. Removes its replaced blocks, except those that the next change can remove. */
  async #reorganised(undoFrom: number, indexHead: number): Promise<void> {
    const { store, observer, write, followed } = this.#dependencies;
    observer.reorganised(undoFrom, indexHead - undoFrom + 1);
    const written = { head: () => store.head(), apply: write };
    await rewind(written, {
      undoFrom,
      undoFinal: this.#finality === 'none',
      leave: MAX_UNDONE_WITH_NEW,
      removedFrom: (from) => followed({ undoFrom: from, blocks: [] }),
    });
  }

  async #apply(change: HeadChange): Promise<void> {
    const { store, write, followed } = this.#dependencies;
    await write({ ...change, ...(this.#finality === 'none' && { undoFinal: true }) });
    followed(change);
    this.#indexHead = (await store.head())?.number ?? -1;
  }

  async #bindChain(): Promise<void> {
    const { store, source, isFailing } = this.#dependencies;
    if (this.#heads !== undefined && !isFailing()) return;
    const chain = await source.chain();
    await store.bindChain(chain);
    this.#finality = this.#options.finality ?? defaultFinality(chain.chainId);
  }

  /** Returns the number of the first block that was replaced, or that is not final and was removed due to damage. */
  async #undoFrom(heads: NodeHeads): Promise<number | undefined> {
    const fork = await this.#findFork(heads);
    if (this.#removed.length === 0) return fork;
    const final = await this.finalNumber();
    const lowest = Math.min(...this.#removed.filter((number) => number > final), fork ?? Infinity);
    return Number.isFinite(lowest) ? lowest : undefined;
  }

  /** Returns the number of the first replaced block. Throws WrongChainError if the nodes are on another chain now. */
  async #findFork({ latest }: NodeHeads): Promise<number | undefined> {
    const { store, source } = this.#dependencies;
    const final = this.#finality === 'none' ? undefined : await store.finalizedNumber();
    const fork = await findFork(store, source, { latest, finalNumber: final }).catch(
      async (error: unknown) => {
        if (error instanceof FinalityError) await store.bindChain(await source.chain());
        throw error;
      },
    );
    if (fork !== undefined) await store.bindChain(await source.chain());
    return fork;
  }

  async #firstBlock({ latest }: NodeHeads): Promise<number> {
    const { fromBlock = 0, sharedHead } = this.#options;
    const newest = Math.max(fromBlock, latest.number - MAX_RANGE_BLOCKS + 1, 0);
    const shared = await sharedHead?.(latest.number);
    if (shared === undefined) return newest;
    return Math.min(newest, Math.max(shared + 1, latest.number - MAX_NEWER_BLOCKS + 1));
  }

  /** Stores the number of the highest final block, if the index has this block. */
  async #finalize(heads: NodeHeads): Promise<void> {
    const { store } = this.#dependencies;
    const number = finalNumber(this.#finality, heads);
    if (number === undefined || number <= ((await store.finalizedNumber()) ?? -1)) return;
    const isThere =
      this.#finality === 'node'
        ? (await store.block(number))?.hash === heads.finalized?.hash
        : (await store.firstMissing(number, heads.latest.number)) === undefined;
    if (isThere) await store.apply({ blocks: [], finalizedNumber: number });
  }

  async finalNumber(): Promise<number> {
    const reported =
      finalNumber(this.#finality, this.#heads ?? {}) ??
      (this.#heads?.latest.number ?? 0) - ASSUMED_FINAL_DEPTH;
    return Math.max(reported, (await this.#dependencies.store.finalizedNumber()) ?? -1);
  }
}
