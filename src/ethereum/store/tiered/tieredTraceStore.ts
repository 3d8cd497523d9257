import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import type { ChainIdentity, IndexChange, IndexedBlock, RecentPart, TraceStore } from '../../traces/index.ts';
import { RecentBlocks, type RecentIndex } from './recentBlocks.ts';
import { TieredTraceReader } from './tieredTraceReader.ts';

export interface TieredOptions {
  /** Minimum number of newest blocks in the local index. */
  readonly keepBlocks: number;
}

export interface TieredDependencies {
  readonly shared: TraceStore;
  readonly openRecent: () => Promise<RecentIndex>;
  /** Called when the local index was dropped because a write to it failed. */
  readonly failed: (error: unknown) => void;
}

/** Trace store that writes all changes to a shared index, and the newest blocks also to a local index. */
export class TieredTraceStore extends TieredTraceReader implements TraceStore {
  readonly #shared: TraceStore;
  readonly #recent: RecentBlocks;
  readonly #failed: (error: unknown) => void;
  readonly #keepBlocks: number;
  readonly #changes = new SerialQueue();
  #couldKeep = true;

  constructor({ keepBlocks }: TieredOptions, { shared, openRecent, failed }: TieredDependencies) {
    const recent = new RecentBlocks(keepBlocks, openRecent);
    super({ shared, recent });
    this.#shared = shared;
    this.#keepBlocks = keepBlocks;
    this.#recent = recent;
    this.#failed = failed;
  }

  get tracesPerChange(): number | undefined {
    return this.#shared.tracesPerChange;
  }

  /**
   * Whether the local index has no blocks, as after a start, so that it needs the newest block. False after a failed
   * write, because the next change starts a new index.
   */
  get needsNewest(): boolean {
    return this.#couldKeep && this.#recent.store === undefined;
  }

  get recentPart(): RecentPart | undefined {
    return this.#recent.part;
  }

  cacheNewest(head: IndexedBlock): Promise<void> {
    return this.#changes.run(() => this.#keep({ blocks: [head] }));
  }

  bindChain(identity: ChainIdentity): Promise<void> {
    return this.#shared.bindChain(identity);
  }

  apply(change: IndexChange): Promise<void> {
    return this.#changes.run(() => this.#apply(change));
  }

  override async close(): Promise<void> {
    await this.#changes.idle();
    await this.#recent.discard();
    await this.#shared.close();
  }

  /**
   * Applies a change to the shared index, then to the local index. The local index therefore never has blocks that
   * other instances cannot see.
   */
  async #apply(change: IndexChange): Promise<void> {
    await this.#shared.apply(change);
    const head = (await this.#shared.head())?.number ?? -1;
    const first = Math.min(this.#recent.part?.first ?? head, head - this.#keepBlocks + 1);
    const newest = change.blocks.filter(({ block }) => block.number >= first);
    const { undoFrom } = change;
    await this.#keep({ blocks: newest, ...(undoFrom !== undefined && { undoFrom }) });
  }

  /** Applies a change to the local index. If this fails, drops the local index; reads then use the shared index. */
  async #keep(change: IndexChange): Promise<void> {
    try {
      await this.#recent.apply(change);
      this.#couldKeep = true;
    } catch (error) {
      this.#couldKeep = false;
      this.#failed(error);
    }
  }
}
