import { SerialQueue } from '../../platform/serialQueue/index.ts';
import type { Span } from '../../platform/spans/index.ts';
import { endWith, type NodeHeads } from '../nodes/index.ts';
import type { IndexChange, TraceStore } from '../traces/index.ts';
import { ChainFollower, type ChainFollowerOptions, type FollowedChange } from './chainFollower.ts';
import { GapFiller } from './gapFiller.ts';
import type { IndexerObserver } from './indexerObserver.ts';
import { BlockUnavailableError, PastBlocks } from './pastBlocks.ts';
import { PollLoop } from './pollLoop.ts';
import type { ChainSource } from './pooledSource.ts';

/** Blocks older than the latest ones, from `fromBlock` on, are filled in while the head is followed. */
export interface IndexerOptions extends ChainFollowerOptions {
  readonly pollIntervalMs: number;
  /** Blocks below the head that are missing are another process' to fill in: here they are not fetched, whoever asks. */
  readonly isFollower?: boolean;
}

/** Applies a change of the index by `apply`, once whoever else answers from it is ready for it. */
export type ApplyWith = (change: IndexChange, apply: () => Promise<void>) => Promise<void>;

/** Begins the span of a change that is written; undefined where it is not traced. */
export type BeginWrite = (change: IndexChange) => Span | undefined;

export interface IndexerDependencies {
  readonly store: TraceStore;
  readonly source: ChainSource;
  readonly observer: IndexerObserver;
  /** Hears of each change at the index's head once it is applied. Older blocks that are filled in are none. */
  readonly followed?: (change: FollowedChange) => void;
  readonly beginWrite?: BeginWrite | undefined;
  /** Left out: nobody else answers from the index. */
  readonly applyWith?: ApplyWith | undefined;
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
  readonly #store: TraceStore;
  readonly #stop = new AbortController();
  readonly #writes = new SerialQueue();
  readonly #follower: ChainFollower;
  readonly #loop: PollLoop;
  readonly #gap: GapFiller | undefined;
  readonly #past: PastBlocks | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(
    options: IndexerOptions,
    { store, source, observer, followed = () => undefined, beginWrite, applyWith }: IndexerDependencies,
  ) {
    const { fromBlock, pollIntervalMs, isFollower = false } = options;
    const { signal } = this.#stop;
    this.#store = store;
    const write = (change: IndexChange): Promise<void> => {
      const span = beginWrite?.(change);
      const written =
        applyWith === undefined ? store.apply(change) : applyWith(change, () => store.apply(change));
      return span === undefined ? written : endWith(span, written);
    };
    this.#follower = new ChainFollower(options, {
      store,
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
    this.#loop = new PollLoop(pollIntervalMs, {
      signal,
      turn: () => this.#catchUp(),
      failed: (error, retryMs) => observer.failed(error, retryMs),
      recovered: () => observer.recovered(),
    });
    const apply = (change: IndexChange): Promise<void> => this.#writes.run(() => write(change));
    if (isFollower) return;
    if (fromBlock !== undefined)
      this.#gap = new GapFiller(
        { fromBlock, pollIntervalMs },
        { store, source, observer, signal, follower, apply },
      );
    this.#past = new PastBlocks({
      store,
      source,
      signal,
      write,
      finalNumber: () => follower.finalNumber(),
      inTurn: (write) => this.#writes.run(write),
      catchUp: async () => {
        await follower.freshHeads();
        return this.#catchUp();
      },
    });
  }

  start(): void {
    this.#running = Promise.all([this.#loop.run(), this.#gap?.run()]);
  }

  /** The chain has a new head: it is followed at once, unless a failure is waited out. */
  headChanged(): void {
    this.#loop.wake();
  }

  /** Stops following; what is being written is written to its end. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#writes.idle();
  }

  status(): IndexerStatus {
    const { failure } = this.#loop;
    return {
      nodeHead: this.#follower.lastHeads?.latest.number,
      lagBlocks: this.#follower.lagBlocks,
      failure:
        failure === undefined ? undefined : failure instanceof Error ? failure.message : String(failure),
      firstMissing: this.#gap?.firstMissing,
    };
  }

  /** The heads of the chain as last heard of. */
  get lastHeads(): NodeHeads | undefined {
    return this.#follower.lastHeads;
  }

  /** The same, asked for now; what was last heard where no node answers. */
  freshHeads(): Promise<NodeHeads | undefined> {
    return this.#follower.freshHeads();
  }

  /**
   * Sees to it that the index has every block of a range that the node's head covers. The same block asked for by many
   * is fetched once. Throws BlockUnavailableError naming the first block that cannot be had.
   */
  async ensure(fromBlock: number, toBlock: number): Promise<void> {
    const store = this.#store;
    for (let missing = await store.firstMissing(fromBlock, toBlock); missing !== undefined; ) {
      await this.#fetchMissing(missing, toBlock);
      if (this.#stop.signal.aborted) throw new BlockUnavailableError(missing);
      const next = await store.firstMissing(missing, toBlock);
      if (next === missing) throw new BlockUnavailableError(missing, { cause: this.#loop.failure });
      missing = next;
    }
  }

  #catchUp(): Promise<boolean> {
    return this.#writes.run(() => this.#follower.catchUp());
  }

  async #fetchMissing(missing: number, toBlock: number): Promise<void> {
    const store = this.#store;
    const head = await store.head();
    if (head === undefined || missing > head.number) {
      // The follower has not come so far: let it, now, in as many turns as it takes.
      await this.freshHeads();
      for (let isBehind = true; isBehind && missing > ((await store.head())?.number ?? -1); )
        isBehind = await this.#catchUp().catch((error: unknown) => {
          throw new BlockUnavailableError(missing, { cause: error });
        });
      return;
    }
    if (this.#past === undefined) throw new BlockUnavailableError(missing);
    await this.#past.fetch(missing, Math.min(toBlock, head.number));
  }
}
