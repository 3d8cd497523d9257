import { setTimeout as sleep } from 'node:timers/promises';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import { defaultFinality, type Finality, finalNumber, NodeError, type NodeHeads } from '../nodes/index.ts';
import { type IndexChange, type IndexedBlock, MAX_RANGE_BLOCKS, type TraceStore } from '../traces/index.ts';
import { ASSUMED_FINAL_DEPTH } from './assumedFinalDepth.ts';
import { fetchBlocks, range } from './fetchBlocks.ts';
import { fillRange } from './fillRange.ts';
import { FinalityError, findFork } from './fork.ts';
import { steadyPace } from './pace.ts';
import { BlockUnavailableError, PastBlocks } from './pastBlocks.ts';
import type { ChainSource } from './pooledSource.ts';
import { rewind } from './rewind.ts';

/** Pauses after failures: doubled from the first to the last. */
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 10_000;
/** Blocks that are followed in one turn: whoever asks for an older block waits no longer than for these. */
const MAX_BLOCKS_PER_TURN = 256;

/** Replaced blocks above so many are removed before their successors are fetched, in transactions of their own. */
const MAX_UNDONE_WITH_NEW = 1024;

export interface IndexerOptions {
  /** First block to index; left out: the latest MAX_RANGE_BLOCKS. Older ones are filled in while the head is followed. */
  readonly fromBlock?: number;
  readonly pollIntervalMs: number;
  /** Which blocks count as final; left out: what is usual on the chain. */
  readonly finality?: Finality;
}

export interface IndexerDependencies {
  readonly store: TraceStore;
  readonly source: ChainSource;
  readonly observer: IndexerObserver;
}

/** What happens while the index follows the chain, for logs and metrics. */
export interface IndexerObserver {
  indexed(blocks: readonly IndexedBlock[], nodeHead: number): void;
  reorganised(undoFrom: number, undoneBlocks: number): void;
  failed(error: unknown, retryMs: number): void;
  recovered(): void;
  /** Blocks of the gap between the first block to index and the followed ones were written. */
  filled(blocks: readonly IndexedBlock[], toBlock: number): void;
  /** Nothing is missing any more from the first block to index on. */
  gapClosed(fromBlock: number): void;
}

export interface IndexerStatus {
  /** The head of the nodes as last heard of; undefined before the first answer. */
  readonly nodeHead: number | undefined;
  /** Blocks between the node's head and the index's; undefined before the first answer. */
  readonly lagBlocks: number | undefined;
  /** What is wrong now; undefined where nothing is. */
  readonly failure: string | undefined;
  /** The lowest block that is missing of those to index; undefined where there is none. */
  readonly firstMissing: number | undefined;
}

/**
 * Keeps the index at the head of a node's chain, and fetches older blocks when they are asked for. All writing goes
 * through here, one thing after the other, so that two writers never work from the same state.
 */
export class Indexer {
  readonly #options: IndexerOptions & IndexerDependencies;
  readonly #stop = new AbortController();
  #heads: NodeHeads | undefined;
  /** The number of the index's head, -1 where it has none; undefined until it was read. */
  #indexHead: number | undefined;
  #failure: unknown;
  #failures = 0;
  #loop: Promise<void> = Promise.resolve();
  #gapLoop: Promise<void> = Promise.resolve();
  #firstMissing: number | undefined;
  /** Nothing is missing below, from the first block to index on. */
  #filledTo = 0;
  #finality: Finality = 'node';
  #wake: () => void = () => undefined;
  /** The head has changed since the last turn began. */
  #isHeadNew = false;
  readonly #writes = new SerialQueue();
  readonly #past: PastBlocks;

  constructor(options: IndexerOptions, dependencies: IndexerDependencies) {
    this.#options = { ...options, ...dependencies };
    this.#past = new PastBlocks({
      store: dependencies.store,
      source: dependencies.source,
      signal: this.#stop.signal,
      finalNumber: () => this.#finalNumber(),
      inTurn: (write) => this.#writes.run(write),
      catchUp: async () => {
        await this.freshHeads();
        return this.#writes.run(() => this.#catchUp());
      },
    });
  }

  start(): void {
    this.#loop = this.#follow();
    const { fromBlock } = this.#options;
    if (fromBlock !== undefined) this.#gapLoop = this.#fillGap(fromBlock);
  }

  /** The chain has a new head: it is followed at once, unless a failure is waited out. */
  headChanged(): void {
    this.#isHeadNew = true;
    if (this.#failures === 0) this.#wake();
  }

  /** Stops following; what is being written is written to its end. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await Promise.all([this.#loop, this.#gapLoop]);
    await this.#writes.idle();
  }

  status(): IndexerStatus {
    const nodeHead = this.#heads?.latest.number;
    const indexHead = this.#indexHead;
    const failure = this.#failure;
    return {
      nodeHead,
      lagBlocks:
        nodeHead === undefined || indexHead === undefined ? undefined : Math.max(0, nodeHead - indexHead),
      failure:
        failure === undefined ? undefined : failure instanceof Error ? failure.message : String(failure),
      firstMissing: this.#firstMissing,
    };
  }

  /** The heads of the chain as last heard of. */
  get lastHeads(): NodeHeads | undefined {
    return this.#heads;
  }

  /** The same, asked for now; what was last heard where no node answers. */
  async freshHeads(): Promise<NodeHeads | undefined> {
    if (!this.#stop.signal.aborted) {
      try {
        this.#heads = await this.#options.source.freshHeads();
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
      }
    }
    return this.#heads;
  }

  /**
   * Sees to it that the index has every block of a range that the node's head covers. The same block asked for by many
   * is fetched once. Throws BlockUnavailableError naming the first block that cannot be had.
   */
  async ensure(fromBlock: number, toBlock: number): Promise<void> {
    const { store } = this.#options;
    for (let missing = await store.firstMissing(fromBlock, toBlock); missing !== undefined; ) {
      await this.#fetchMissing(missing, toBlock);
      if (this.#stop.signal.aborted) throw new BlockUnavailableError(missing);
      const next = await store.firstMissing(missing, toBlock);
      if (next === missing) throw new BlockUnavailableError(missing, { cause: this.#failure });
      missing = next;
    }
  }

  async #follow(): Promise<void> {
    const { observer, pollIntervalMs } = this.#options;
    while (!this.#stop.signal.aborted) {
      let pauseMs = pollIntervalMs;
      try {
        this.#isHeadNew = false;
        const isBehind = await this.#writes.run(() => this.#catchUp());
        if (isBehind || this.#isHeadNew) pauseMs = 0;
        if (this.#failures > 0) observer.recovered();
        this.#failures = 0;
        this.#failure = undefined;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        pauseMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
        this.#failures++;
        this.#failure = error;
        observer.failed(error, pauseMs);
      }
      await this.#pause(pauseMs);
    }
  }

  /**
   * Brings the index towards the node's head: undoes what was replaced, then adds what is new, as much as fits into one
   * turn. Resolves with whether there is more.
   */
  async #catchUp(): Promise<boolean> {
    const { store, source, observer } = this.#options;
    await this.#bindChain();
    // What failed may have been of heads that the chain has left since.
    const heads = await (this.#failures > 0 ? source.freshHeads() : source.heads());
    const indexHead = (await store.head())?.number;
    this.#indexHead = indexHead ?? -1;
    this.#heads = heads;

    let undoFrom = await this.#findFork(heads);
    const first = await this.#firstToAdd(heads, indexHead, undoFrom);
    if (undoFrom !== undefined) await this.#reorganised(undoFrom, indexHead ?? undoFrom);

    const last = Math.min(heads.latest.number, first + MAX_BLOCKS_PER_TURN - 1);
    const { signal } = this.#stop;
    let written: Promise<void> = Promise.resolve();
    for await (const blocks of fetchBlocks(range(first, last), { source, signal })) {
      await written;
      written = this.#apply({ blocks, ...(undoFrom !== undefined && { undoFrom }) });
      written.catch(() => undefined); // awaited below, or with the next batch
      undoFrom = undefined;
      observer.indexed(blocks, heads.latest.number);
    }
    await written;
    if (undoFrom !== undefined) await this.#apply({ undoFrom, blocks: [] });
    await this.#finalize(heads);
    return last < heads.latest.number;
  }

  /** The first block to follow from: behind the index's head, or in place of the first that was replaced. */
  async #firstToAdd(
    heads: NodeHeads,
    indexHead: number | undefined,
    undoFrom: number | undefined,
  ): Promise<number> {
    if (indexHead === undefined) return this.#firstBlock(heads);
    if (undoFrom === undefined) return indexHead + 1;
    const crossesGap = (await this.#options.store.firstMissing(undoFrom, indexHead)) !== undefined;
    return undoFrom === 0 || crossesGap ? Math.max(undoFrom, this.#firstBlock(heads)) : undoFrom;
  }

  /** Tells of blocks that were replaced, and removes them where they are too many for one change. */
  async #reorganised(undoFrom: number, indexHead: number): Promise<void> {
    const { store, observer } = this.#options;
    observer.reorganised(undoFrom, indexHead - undoFrom + 1);
    this.#filledTo = Math.min(this.#filledTo, undoFrom);
    await rewind(store, { undoFrom, undoFinal: this.#finality === 'none', leave: MAX_UNDONE_WITH_NEW });
  }

  /** Applies a change that may move the index's head. */
  async #apply(change: IndexChange): Promise<void> {
    const { store } = this.#options;
    await store.apply({ ...change, ...(this.#finality === 'none' && { undoFinal: true }) });
    this.#indexHead = (await store.head())?.number ?? -1;
  }

  /** Fills in what is missing below the followed blocks, from `fromBlock` on, as far as it cannot be replaced any more. */
  async #fillGap(fromBlock: number): Promise<void> {
    const { store, source, observer, pollIntervalMs } = this.#options;
    const { signal } = this.#stop;
    this.#firstMissing = fromBlock;
    for (; !signal.aborted; await sleep(pollIntervalMs, undefined, { signal }).catch(() => undefined)) {
      const head = (await store.head())?.number;
      if (this.#heads === undefined || head === undefined) continue;
      const missing = await store.firstMissing(Math.max(fromBlock, this.#filledTo), head);
      this.#firstMissing = missing;
      if (missing === undefined) return observer.gapClosed(fromBlock);
      this.#filledTo = missing;
      const toBlock = Math.min(head, await this.#finalNumber());
      const written = (blocks: readonly IndexedBlock[]): void => {
        this.#firstMissing = (blocks.at(-1)?.block.number ?? missing) + 1;
        observer.filled(blocks, toBlock);
      };
      const apply = (change: IndexChange): Promise<void> => this.#writes.run(() => store.apply(change));
      const failed = (error: unknown, retryMs: number): void => observer.failed(error, retryMs);
      const pace = steadyPace();
      await fillRange({
        store,
        source,
        fromBlock: missing,
        toBlock,
        pace,
        signal,
        apply,
        written,
        failed,
      }).catch((error: unknown) => observer.failed(error, pollIntervalMs));
    }
  }

  async #bindChain(): Promise<void> {
    const { store, source } = this.#options;
    if (this.#heads !== undefined && this.#failures === 0) return;
    const chain = await source.chain();
    await store.bindChain(chain);
    this.#finality = this.#options.finality ?? defaultFinality(chain.chainId);
  }

  /**
   * The first block that was replaced. Throws WrongChainError where it is the whole chain: behind the node's address
   * another node may stand since the last poll, and what it has is no reorganisation.
   */
  async #findFork({ latest }: NodeHeads): Promise<number | undefined> {
    const { store, source } = this.#options;
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
    const { store } = this.#options;
    const number = finalNumber(this.#finality, heads);
    if (number === undefined || number <= ((await store.finalizedNumber()) ?? -1)) return;
    const isThere =
      this.#finality === 'node'
        ? (await store.block(number))?.hash === heads.finalized?.hash
        : (await store.firstMissing(number, heads.latest.number)) === undefined;
    if (isThere) await store.apply({ blocks: [], finalizedNumber: number });
  }

  async #fetchMissing(missing: number, toBlock: number): Promise<void> {
    const { store } = this.#options;
    const head = await store.head();
    if (head === undefined || missing > head.number) {
      // The follower has not come so far: let it, now, in as many turns as it takes.
      await this.freshHeads();
      for (let isBehind = true; isBehind && missing > ((await store.head())?.number ?? -1); )
        isBehind = await this.#writes
          .run(() => this.#catchUp())
          .catch((error: unknown) => {
            throw new BlockUnavailableError(missing, { cause: error });
          });
      return;
    }
    await this.#past.fetch(missing, Math.min(toBlock, head.number));
  }

  /** The highest block that cannot be replaced any more, as far as is known. */
  async #finalNumber(): Promise<number> {
    const told =
      finalNumber(this.#finality, this.#heads ?? {}) ??
      (this.#heads?.latest.number ?? 0) - ASSUMED_FINAL_DEPTH;
    return Math.max(told, (await this.#options.store.finalizedNumber()) ?? -1);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (this.#stop.signal.aborted) this.#wake();
    });
  }
}
