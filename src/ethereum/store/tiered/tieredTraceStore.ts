import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import type { ChainIdentity, IndexChange, IndexedBlock, RecentPart, TraceStore } from '../../traces/index.ts';
import { RecentBlocks, type RecentIndex } from './recentBlocks.ts';
import { TieredTraceReader } from './tieredTraceReader.ts';

export interface TieredOptions {
  /** Blocks that are answered from the index of its own, at the least. */
  readonly keepBlocks: number;
}

export interface TieredDependencies {
  /** What all instances share: it has every block. */
  readonly shared: TraceStore;
  /** Opens an empty index for the newest blocks. */
  readonly openRecent: () => Promise<RecentIndex>;
  /** Hears that the index of its own was thrown away, as it could not be written. */
  readonly failed: (error: unknown) => void;
}

/** The same with an index of the newest blocks that it keeps itself, of what is written here to the one that is shared. */
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

  /** At first, for what another server was faster to write is not applied here. Not after a failure, which the next change may mend. */
  get lacksNewest(): boolean {
    return this.#couldKeep && this.#recent.store === undefined;
  }

  get recentPart(): RecentPart | undefined {
    return this.#recent.part;
  }

  keepNewest(head: IndexedBlock): Promise<void> {
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

  /** First where all see it: what the index of its own has, the shared one has or had. */
  async #apply(change: IndexChange): Promise<void> {
    await this.#shared.apply(change);
    const head = (await this.#shared.head())?.number ?? -1;
    const newest = change.blocks.filter(({ block }) => block.number > head - this.#keepBlocks);
    const { undoFrom } = change;
    await this.#keep({ blocks: newest, ...(undoFrom !== undefined && { undoFrom }) });
  }

  /** Here it is a copy alone: it may be thrown away, and answers come from the shared one. Then it is begun again with the next change. */
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
