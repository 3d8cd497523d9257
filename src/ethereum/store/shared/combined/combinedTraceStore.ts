import { sharedRuns } from '../../../../platform/serialQueue/index.ts';
import {
  type ChainIdentity,
  type EmbeddedTraceStore,
  type IndexChange,
  immediate,
  MAX_RANGE_BLOCKS,
  type TraceStore,
} from '../../../traces/index.ts';
import { EXACTNESS } from '../tables/blockRow.ts';
import { type CombinedReaderDependencies, CombinedTraceReader } from './combinedTraceReader.ts';

/** Minimum number of blocks that a pass removes, so that not every new block causes a read of the shared index. */
const MIN_BLOCKS = 32;

export interface CombinedOptions {
  /** Minimum number of newest blocks in the local index. */
  readonly keepBlocks: number;
}

export interface CombinedDependencies extends CombinedReaderDependencies {
  readonly local: EmbeddedTraceStore;
}

/** Trace store of a server that writes a local index of the newest blocks, and reads older ones from the shared index. */
export class CombinedTraceStore extends CombinedTraceReader implements TraceStore {
  readonly local: EmbeddedTraceStore;
  readonly #keepBlocks: number;
  /** The first local block, if it is below the first shared one and may not be removed. */
  #permanent: number | undefined;
  #isClosing = false;

  constructor({ keepBlocks }: CombinedOptions, dependencies: CombinedDependencies) {
    super(dependencies);
    this.local = dependencies.local;
    this.#keepBlocks = keepBlocks;
  }

  bindChain(identity: ChainIdentity): Promise<void> {
    return this.local.bindChain(identity);
  }

  /** Applies a change to the local index. Its blocks may be removed when the shared index has them. */
  apply(change: IndexChange): Promise<void> {
    return this.local.apply({ ...change, onDemand: true });
  }

  /** Removes the oldest final blocks of the local index that the shared index has with the same hashes. */
  readonly trim = sharedRuns(() => this.#trim());

  override async close(): Promise<void> {
    this.#isClosing = true;
    await this.trim().catch(() => undefined);
    await super.close();
  }

  async #trim(): Promise<void> {
    const { shared, local } = this;
    const first = this.run.start?.number;
    const head = immediate(local.head())?.number ?? -1;
    const final = immediate(local.finalizedNumber()) ?? -1;
    if (first === undefined || shared === undefined || this.#isClosing) return;
    const end = Math.min(final, head - this.#keepBlocks, first + MAX_RANGE_BLOCKS - 1);
    if (end - first + 1 < Math.min(MIN_BLOCKS, this.#keepBlocks)) return;
    let keepFrom = first;
    for (const row of await shared.countedRows(first, end)) {
      const block = immediate(local.block(row.number));
      const isExact = row.exactness > EXACTNESS.unavailable || block?.unavailable !== undefined;
      if (row.number !== keepFrom || block?.hash !== row.hash || !isExact) break;
      keepFrom++;
    }
    if (keepFrom === first) return this.#trimUnshared(first, Math.min((await shared.lowest()) ?? 0, end + 1));
    this.run.removing(keepFrom);
    await local.onDemand?.evict(0, (number) => number < first || number >= keepFrom);
  }
  /**
   * Removes local blocks below the first shared one, which no server writes to the shared index. Otherwise the local
   * index would grow for ever. Blocks that were indexed before the shared index was configured stay.
   */
  async #trimUnshared(first: number, end: number): Promise<void> {
    const { onDemand } = this.local;
    if (first >= end || first === this.#permanent || onDemand === undefined) return;
    const removed = await onDemand.evict(0, (number) => number !== first);
    if (removed === 0) this.#permanent = first;
    else await onDemand.evict(0, (number) => number < first || number >= end);
  }
}
