import { setTimeout as sleep } from 'node:timers/promises';
import type { TraceProvider } from '../nodes/index.ts';
import type { IndexChange, IndexedBlock, TraceStore } from '../traces/index.ts';
import { boundedConcurrency } from './adaptiveConcurrency.ts';
import type { ChainFollower } from './chainFollower.ts';
import { fillRange } from './fillRange.ts';
import type { IndexerObserver } from './indexerObserver.ts';

export interface GapFillerOptions {
  readonly fromBlock: number;
  readonly pollIntervalMs: number;
}

export interface GapFillerDependencies {
  readonly store: Pick<TraceStore, 'head' | 'firstMissing' | 'onDemand'>;
  readonly source: TraceProvider;
  readonly observer: Pick<IndexerObserver, 'failed' | 'filled' | 'gapClosed'>;
  readonly signal: AbortSignal;
  readonly follower: Pick<ChainFollower, 'lastHeads' | 'finalNumber'>;
  /** Applies a change while no other write to the index runs. */
  readonly apply: (change: IndexChange) => Promise<void>;
  /** Throws if no blocks may be written now. */
  readonly checkSpace: () => void;
}

/** Fills in missing blocks from `fromBlock` to the highest final block, while the chain follower adds new ones. */
export class GapFiller {
  readonly #options: GapFillerOptions;
  readonly #dependencies: GapFillerDependencies;
  #firstMissing: number | undefined;
  /** Block number: from the first block to index up to this block, none is missing. */
  #filledTo = 0;

  constructor(options: GapFillerOptions, dependencies: GapFillerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Number of the lowest missing block from `fromBlock` on; undefined if no block is missing. */
  get firstMissing(): number | undefined {
    return this.#firstMissing;
  }

  removedFrom(blockNumber: number): void {
    this.#filledTo = Math.min(this.#filledTo, blockNumber);
  }

  /** Fills in blocks until none is missing up to the head of the index, or until aborted. */
  async run(): Promise<void> {
    const { fromBlock, pollIntervalMs } = this.#options;
    const { store, observer, signal, follower } = this.#dependencies;
    this.#firstMissing = fromBlock;
    let areKept = false;
    for (; !signal.aborted; await sleep(pollIntervalMs, undefined, { signal }).catch(() => undefined)) {
      areKept ||= await this.#keepBlocks();
      const head = (await store.head())?.number;
      if (!areKept || follower.lastHeads === undefined || head === undefined) continue;
      const missing = await store.firstMissing(Math.max(fromBlock, this.#filledTo), head);
      this.#firstMissing = missing;
      if (missing === undefined) return observer.gapClosed(fromBlock);
      this.#filledTo = missing;
      await this.#fill(missing, Math.min(head, await follower.finalNumber()));
    }
  }

  /** Makes the blocks that clients requested in an earlier run permanent. Returns whether this succeeded. */
  #keepBlocks(): Promise<boolean> {
    const { fromBlock, pollIntervalMs } = this.#options;
    const { store, observer } = this.#dependencies;
    const kept = store.onDemand?.keep(fromBlock, Number.MAX_SAFE_INTEGER) ?? Promise.resolve();
    return kept.then(
      () => true,
      (error: unknown) => {
        observer.failed(error, pollIntervalMs);
        return false;
      },
    );
  }

  async #fill(fromBlock: number, toBlock: number): Promise<void> {
    const { store, source, observer, signal, apply, checkSpace } = this.#dependencies;
    const written = (blocks: readonly IndexedBlock[]): void => {
      this.#firstMissing = (blocks.at(-1)?.block.number ?? fromBlock) + 1;
      observer.filled(blocks, toBlock);
    };
    const failed = (error: unknown, retryMs: number): void => observer.failed(error, retryMs);
    const pace = boundedConcurrency();
    try {
      checkSpace();
      const range = { fromBlock, toBlock, concurrency: pace };
      await fillRange({ store, source, ...range, signal, apply, written, failed });
    } catch (error) {
      observer.failed(error, this.#options.pollIntervalMs);
    }
  }
}
