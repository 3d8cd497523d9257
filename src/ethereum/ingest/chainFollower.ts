import { defaultFinality, type Finality, finalNumber, NodeError, type NodeHeads } from '../nodes/index.ts';
import {
  type Hash,
  type IndexChange,
  type IndexedBlock,
  MAX_RANGE_BLOCKS,
  type StoredBlock,
  type TraceStore,
} from '../traces/index.ts';
import { ASSUMED_FINAL_DEPTH } from './assumedFinalDepth.ts';
import { fetchBlocks, range } from './fetchBlocks.ts';
import { FinalityError, findFork } from './fork.ts';
import type { IndexerObserver } from './indexerObserver.ts';
import type { ChainSource } from './pooledSource.ts';
import { rewind } from './rewind.ts';

/** Blocks that are followed in one turn: whoever asks for an older block waits no longer than for these. */
const MAX_BLOCKS_PER_TURN = 256;

/** Replaced blocks above so many are removed before their successors are fetched, in transactions of their own. */
const MAX_UNDONE_WITH_NEW = 1024;

export interface ChainFollowerOptions {
  /** First block to index; left out: the latest MAX_RANGE_BLOCKS. */
  readonly fromBlock?: number;
  /** Which blocks count as final; left out: what is usual on the chain. */
  readonly finality?: Finality;
}

/** What following the chain has changed in the index: blocks from a number on were removed, then others added above the rest. */
export interface FollowedChange {
  readonly undoFrom?: number;
  readonly blocks: readonly IndexedBlock[];
}

export interface ChainFollowerDependencies {
  readonly store: TraceStore;
  readonly source: ChainSource;
  readonly observer: Pick<IndexerObserver, 'indexed' | 'reorganised'>;
  /** Applies a change to the store. */
  readonly write: (change: IndexChange) => Promise<void>;
  /** Hears of each change once it is applied, in their order. */
  readonly followed: (change: FollowedChange) => void;
  readonly signal: AbortSignal;
  /** Whether following has failed, and has not succeeded since. */
  readonly isFailing: () => boolean;
}

/** Brings the index to the chain as its nodes have it now, turn by turn. Whoever calls sees to it that turns do not overlap. */
export class ChainFollower {
  readonly #options: ChainFollowerOptions;
  readonly #dependencies: ChainFollowerDependencies;
  #heads: NodeHeads | undefined;
  /** The number of the index's head, -1 where it has none; undefined until it was read. */
  #indexHead: number | undefined;
  #finality: Finality = 'node';
  /** The hash of the head that was last asked for to be kept nearer. */
  #askedToKeep: Hash | undefined;

  constructor(options: ChainFollowerOptions, dependencies: ChainFollowerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** The heads of the chain as last heard of: those that the relay answers by, in this very moment. */
  get lastHeads(): NodeHeads | undefined {
    return this.#dependencies.source.knownHeads ?? this.#heads;
  }

  /** Blocks between the node's head as last heard of, also within a turn, and the index's; undefined before the first turn. */
  get lagBlocks(): number | undefined {
    const { lastHeads } = this;
    if (lastHeads === undefined || this.#indexHead === undefined) return undefined;
    return Math.max(0, lastHeads.latest.number - this.#indexHead);
  }

  /** The same, asked for now; what was last heard where no node answers. */
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
   * Brings the index towards the node's head: undoes what was replaced, then adds what is new, as much as fits into one
   * turn. Resolves with whether there is more.
   */
  async catchUp(): Promise<boolean> {
    const { store, source, observer, signal, isFailing } = this.#dependencies;
    await this.#bindChain();
    // What failed may have been of heads that the chain has left since.
    const heads = await (isFailing() ? source.freshHeads() : source.heads());
    const head = await store.head();
    const indexHead = head?.number;
    this.#indexHead = indexHead ?? -1;
    this.#heads = heads;

    let undoFrom = await this.#findFork(heads);
    const first = await this.#firstToAdd(heads, indexHead, undoFrom);
    if (undoFrom !== undefined) await this.#reorganised(undoFrom, indexHead ?? undoFrom);

    const last = Math.min(heads.latest.number, first + MAX_BLOCKS_PER_TURN - 1);
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
    if (store.lacksNewest && head?.number === heads.latest.number && undoFrom === undefined)
      await this.#keepNewest(head);
    await this.#finalize(heads);
    return last < heads.latest.number;
  }

  /** Another server was faster to write all there is, so that nothing was added here. Each head is asked for once: it is a copy, no failure. */
  async #keepNewest({ number, hash }: StoredBlock): Promise<void> {
    if (hash === this.#askedToKeep) return;
    this.#askedToKeep = hash;
    const { store, source, signal } = this.#dependencies;
    try {
      // The node may have another there by now: the next turn finds that out.
      for await (const blocks of fetchBlocks([number], { store, source, signal }))
        for (const block of blocks) if (block.block.hash === hash) await store.keepNewest?.(block);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
    }
  }

  /** The first block to follow from: behind the index's head, or in place of the first that was replaced. */
  async #firstToAdd(
    heads: NodeHeads,
    indexHead: number | undefined,
    undoFrom: number | undefined,
  ): Promise<number> {
    if (indexHead === undefined) return this.#firstBlock(heads);
    if (undoFrom === undefined) return indexHead + 1;
    const crossesGap = (await this.#dependencies.store.firstMissing(undoFrom, indexHead)) !== undefined;
    return undoFrom === 0 || crossesGap ? Math.max(undoFrom, this.#firstBlock(heads)) : undoFrom;
  }

  /** Tells of blocks that were replaced, and removes them where they are too many for one change. */
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

  /** Applies a change that may move the index's head. */
  async #apply(change: FollowedChange): Promise<void> {
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

  /**
   * The first block that was replaced. Throws WrongChainError where it is the whole chain: behind the node's address
   * another node may stand since the last poll, and what it has is no reorganisation.
   */
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

  #firstBlock(heads: NodeHeads): number {
    return Math.max(this.#options.fromBlock ?? 0, heads.latest.number - MAX_RANGE_BLOCKS + 1, 0);
  }

  /** Remembers the final block, once the index has it and it is the same block. */
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

  /** The highest block that cannot be replaced any more, as far as is known. */
  async finalNumber(): Promise<number> {
    const told =
      finalNumber(this.#finality, this.#heads ?? {}) ??
      (this.#heads?.latest.number ?? 0) - ASSUMED_FINAL_DEPTH;
    return Math.max(told, (await this.#dependencies.store.finalizedNumber()) ?? -1);
  }
}
