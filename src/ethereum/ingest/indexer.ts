import { failureReporter, inBackground } from '../../platform/background/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import type { Span } from '../../platform/spans/index.ts';
import { endWith, type NodeHeads } from '../nodes/index.ts';
import type { IndexChange, TraceStore, UnavailableBlock } from '../traces/index.ts';
import { ChainFollower, type ChainFollowerOptions, type HeadChange } from './chainFollower.ts';
import { GapFiller } from './gapFiller.ts';
import type { IndexerObserver } from './indexerObserver.ts';
import { NoSpaceError } from './noSpaceError.ts';
import { type BlockMeter, BlockUnavailableError, OnDemandBlocks, UNMETERED } from './pastBlocks.ts';
import { PollLoop } from './pollLoop.ts';
import type { ChainSource } from './pooledSource.ts';
import { UnavailableBlocks } from './unavailableBlocks.ts';

/** Options of an indexer. It follows the head and meanwhile fills in the older blocks from `fromBlock` on. */
export interface IndexerOptions extends ChainFollowerOptions {
  readonly pollIntervalMs: number;
  /** Maximum size of the blocks that are stored because a client requested them, in bytes. Default: no limit. */
  readonly onDemandBytes?: number;
  /** Time in milliseconds after a request for which its blocks are not evicted. Default: 10 s. */
  readonly pinnedMs?: number;
}

/** Starts the span of a write to the index; undefined if the write is not sampled. */
export type BeginWrite = (change: IndexChange) => Span | undefined;

export interface IndexerDependencies {
  readonly store: TraceStore;
  /**
   * Part of `store` with the newest blocks, if older blocks are in an index that other servers fill. Then no block
   * below the head is fetched. Default: `store`.
   */
  readonly local?: TraceStore | undefined;
  readonly source: ChainSource;
  readonly observer: IndexerObserver;
  /** Called after each change at the head of the index, but not for older blocks that are filled in. */
  readonly followed?: (change: HeadChange) => void;
  readonly beginWrite?: BeginWrite | undefined;
  /** Returns why no blocks may be written now, as text; undefined if they may. Default: they always may. */
  readonly noSpace?: (() => string | undefined) | undefined;
  /** Clock for tests. Default: a monotonic clock. */
  readonly nowMs?: () => number;
}

export interface IndexerStatus {
  /** Block number of the nodes' newest known head; undefined before a node has reported one. */
  readonly nodeHead: number | undefined;
  /** Number of blocks that the index lags behind the nodes' head; undefined before the first pass. */
  readonly lagBlocks: number | undefined;
  /** Error message of the last pass; undefined if that pass succeeded. */
  readonly failure: string | undefined;
  /** Number of the lowest missing block from `fromBlock` on; undefined if no block is missing. */
  readonly firstMissing: number | undefined;
  /** Blocks that no node can trace, ascending, at most 1,000. */
  readonly unavailable: readonly UnavailableBlock[];
}

/** Keeps the index at the nodes' head, and fetches older blocks on demand. Runs one write to the index at a time. */
export class Indexer {
  readonly #store: TraceStore;
  readonly #stop = new AbortController();
  readonly #writes = new SerialQueue();
  readonly #follower: ChainFollower;
  readonly #loop: PollLoop;
  readonly #gap: GapFiller | undefined;
  readonly #past: OnDemandBlocks | undefined;
  readonly #unavailable: UnavailableBlocks;
  readonly #repair: () => Promise<void>;
  readonly #noSpace: () => string | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: IndexerOptions, dependencies: IndexerDependencies) {
    const { store, source, observer, followed = () => undefined, beginWrite } = dependencies;
    const { fromBlock, pollIntervalMs } = options;
    const local = dependencies.local ?? store;
    this.#noSpace = dependencies.noSpace ?? (() => undefined);
    const { signal } = this.#stop;
    this.#store = store;
    const write = async (change: IndexChange): Promise<void> => {
      if (change.blocks.length > 0) this.#checkSpace();
      const span = beginWrite?.(change);
      const written = this.#apply(change, observer);
      return span === undefined ? written : endWith(span, written);
    };
    const inTurn = (write: () => Promise<void>): Promise<void> => this.#writes.run(write);
    this.#unavailable = new UnavailableBlocks(pollIntervalMs, {
      store: local,
      source,
      observer,
      signal,
      write,
      runExclusive: inTurn,
      nowMs: dependencies.nowMs ?? (() => performance.now()),
    });
    this.#follower = new ChainFollower(options, {
      store: local,
      source,
      signal,
      write,
      followed,
      isFailing: () => this.#loop.isFailing,
      observer: {
        indexed: (blocks, nodeHead) => observer.indexed(blocks, nodeHead),
        reorganised: (undoFrom, undoneBlocks) => {
          observer.reorganised(undoFrom, undoneBlocks);
          this.#gap?.removedFrom(undoFrom);
        },
      },
    });
    const follower = this.#follower;
    this.#repair = async () => {
      const repair = await local.repair?.();
      if (repair === undefined) return;
      observer.repaired(repair);
      follower.removed(repair.removed);
      await this.#unavailable.refresh();
    };
    this.#loop = new PollLoop(pollIntervalMs, {
      signal,
      pass: () => this.#catchUp(),
      failed: (error, retryMs) => observer.failed(error, retryMs),
      recovered: () => observer.recovered(),
    });
    const apply = (change: IndexChange): Promise<void> => inTurn(() => write(change));
    if (dependencies.local !== undefined) return;
    if (fromBlock !== undefined)
      this.#gap = new GapFiller(
        { fromBlock, pollIntervalMs },
        { store, source, observer, signal, follower, apply, checkSpace: () => this.#checkSpace() },
      );
    this.#past = new OnDemandBlocks({
      store,
      source,
      signal,
      write,
      maxBytes: options.onDemandBytes ?? Number.POSITIVE_INFINITY,
      permanentFrom: fromBlock ?? Number.POSITIVE_INFINITY,
      pinnedMs: options.pinnedMs,
      evicted: (blocks) => observer.evicted(blocks),
      finalNumber: () => follower.finalNumber(),
      runExclusive: inTurn,
      catchUp: async () => {
        await follower.freshHeads();
        return this.#catchUp();
      },
    });
  }

  start(): void {
    // The budget may be smaller than in the last run.
    inBackground('eviction of blocks', () => this.#past?.evict());
    this.#running = Promise.all([this.#loop.run(), this.#gap?.run(), this.#unavailable.run()]).catch(
      failureReporter('indexing'),
    );
  }

  /** To be called for each new head. Starts a pass immediately, unless the loop pauses after a failure. */
  headChanged(): void {
    this.#loop.wake();
  }

  /** Stops all work on the index. Resolves when running writes have finished. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#writes.idle();
    // Waits for a running eviction.
    await this.#past?.evict();
  }

  status(): IndexerStatus {
    const { failure } = this.#loop;
    return {
      nodeHead: this.#follower.lastHeads?.latest.number,
      lagBlocks: this.#follower.lagBlocks,
      failure:
        failure === undefined ? undefined : failure instanceof Error ? failure.message : String(failure),
      firstMissing: this.#gap?.firstMissing,
      unavailable: this.#unavailable.known,
    };
  }

  get lastHeads(): NodeHeads | undefined {
    return this.#follower.lastHeads;
  }

  /** Polls the nodes and returns the heads. If no node answers, returns the last known heads. */
  freshHeads(): Promise<NodeHeads | undefined> {
    return this.#follower.freshHeads();
  }

  /**
   * Makes sure that the index has all blocks of a range, with traces. Concurrent callers share one fetch per block.
   * Throws BlockUnavailableError for a block that no node returns, or that the index records as unavailable: such a
   * block is not fetched. Throws NoSpaceError, and errors of `meter`, which counts the blocks below the head of the
   * index that this call fetches. The blocks are not evicted until some time after this call.
   */
  async ensure(fromBlock: number, toBlock: number, meter: BlockMeter = UNMETERED): Promise<void> {
    await this.#checkAvailable(fromBlock, toBlock);
    const head = (await this.#store.head())?.number ?? -1;
    const past = { first: fromBlock, last: Math.min(toBlock, head) };
    const isPastMissing = (await this.#store.firstMissing(past.first, past.last)) !== undefined;
    const unpin = isPastMissing ? this.#past?.pin(past.first, past.last) : undefined;
    try {
      const blocks = isPastMissing ? await this.#past?.countNew(past.first, past.last) : 0;
      checkMeter(meter, blocks ?? 0);
      await this.#fetchAll(fromBlock, toBlock, meter);
      await this.#checkAvailable(fromBlock, toBlock);
    } finally {
      unpin?.();
    }
  }

  async #fetchAll(fromBlock: number, toBlock: number, meter: BlockMeter): Promise<void> {
    const store = this.#store;
    for (let missing = await store.firstMissing(fromBlock, toBlock); missing !== undefined; ) {
      await this.#fetchMissing(missing, toBlock, meter);
      if (this.#stop.signal.aborted) throw new BlockUnavailableError(missing);
      const next = await store.firstMissing(missing, toBlock);
      if (next === missing) throw new BlockUnavailableError(missing, { cause: this.#loop.failure });
      missing = next;
    }
  }

  async #checkAvailable(fromBlock: number, toBlock: number): Promise<void> {
    const [block] = await this.#store.unavailable(fromBlock, toBlock, 1);
    if (block !== undefined) throw new BlockUnavailableError(block.number, { failure: block.unavailable });
  }

  async #apply(change: IndexChange, observer: IndexerObserver): Promise<void> {
    await this.#store.apply(change);
    await this.#unavailable.changed(change);
    for (const { block } of change.blocks)
      if (block.unavailable !== undefined) observer.unavailable({ ...block, unavailable: block.unavailable });
  }

  #catchUp(): Promise<boolean> {
    return this.#writes.run(async () => {
      this.#checkSpace();
      await this.#repair();
      return this.#follower.catchUp();
    });
  }

  #checkSpace(): void {
    const reason = this.#noSpace();
    if (reason !== undefined) throw new NoSpaceError(reason);
  }

  async #fetchMissing(missing: number, toBlock: number, meter: BlockMeter): Promise<void> {
    this.#checkSpace();
    const store = this.#store;
    const head = await store.head();
    if (head === undefined || missing > head.number) {
      // The block is above the index's head, so passes are run until the head reaches the block.
      await this.freshHeads();
      for (let isBehind = true; isBehind && missing > ((await store.head())?.number ?? -1); )
        isBehind = await this.#catchUp().catch((error: unknown) => {
          throw new BlockUnavailableError(missing, { cause: error });
        });
      return;
    }
    if (this.#past === undefined) throw new BlockUnavailableError(missing);
    await this.#past.fetch(missing, Math.min(toBlock, head.number), meter);
  }
}

/** Throws the error of `meter` if it does not permit all new blocks of a range, so that no part of them is fetched. */
function checkMeter(meter: BlockMeter, blocks: number): void {
  if (blocks === 0) return;
  meter.charge(blocks);
  // Each block is charged when its fetch begins, to the call that begins it.
  meter.refund(blocks);
}
