import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import {
  type Address,
  type ChainIdentity,
  type IndexChange,
  MAX_RANGE_BLOCKS,
  type TraceStore,
} from '../../../traces/index.ts';
import type { SharedReader } from '../sharedReader.ts';
import { isTraced } from '../tables/blockRow.ts';
import { CombinedTraceReader } from './combinedTraceReader.ts';
import { immediate } from './localRun.ts';

/** Minimum number of blocks that a pass removes, so that not every new block causes a read of the shared index. */
const MIN_BLOCKS = 32;

const NO_ADDRESS = `0x${'00'.repeat(20)}` as Address; // 20 bytes as digits
/** Size of an empty JSON array. */
const NO_BYTES = 2;

export interface CombinedOptions {
  /** Minimum number of newest blocks in the local index. */
  readonly keepBlocks: number;
}

export interface CombinedDependencies {
  readonly local: TraceStore;
  /** Returns the reader of the shared index; undefined while the chain is not known yet. */
  readonly shared: () => SharedReader | undefined;
  readonly close?: () => Promise<void>;
}

/** Trace store of a server that writes a local index of the newest blocks, and reads older ones from the shared index. */
export class CombinedTraceStore extends CombinedTraceReader implements TraceStore {
  readonly #local: TraceStore;
  readonly #keepBlocks: number;
  readonly #reader: () => SharedReader | undefined;
  readonly #close: () => Promise<void>;
  readonly #trims = new SerialQueue();
  #isClosing = false;

  constructor(
    { keepBlocks }: CombinedOptions,
    { local, shared, close = async () => undefined }: CombinedDependencies,
  ) {
    super({ local, shared });
    this.#local = local;
    this.#keepBlocks = keepBlocks;
    this.#reader = shared;
    this.#close = close;
  }

  get local(): TraceStore {
    return this.#local;
  }

  bindChain(identity: ChainIdentity): Promise<void> {
    return this.#local.bindChain(identity);
  }

  /** Applies a change to the local index. Its blocks may be removed when the shared index has them. */
  async apply(change: IndexChange): Promise<void> {
    await this.#local.apply({ ...change, onDemand: true }).finally(() => this.run.changed());
  }

  /**
   * Removes the oldest blocks of the local index that the shared index has with the same hashes. Returns the number
   * of removed blocks.
   */
  trim(): Promise<number> {
    return this.#trims.run(() => this.#trim());
  }

  override async close(): Promise<void> {
    this.#isClosing = true;
    await this.#trims.idle();
    await super.close();
    await this.#close();
  }

  async #trim(): Promise<number> {
    const first = this.run.start?.number;
    const head = immediate(this.#local.head())?.number ?? -1;
    const final = immediate(this.#local.finalizedNumber()) ?? -1;
    const shared = this.#reader();
    if (first === undefined || shared === undefined || this.#isClosing) return 0;
    const end = Math.min(final, head - this.#keepBlocks, first + MAX_RANGE_BLOCKS - 1);
    if (end - first + 1 < MIN_BLOCKS) return 0;
    let keepFrom = first;
    for (const row of await shared.rows(first, end)) {
      const isSame = immediate(this.#local.block(row.number))?.hash === row.hash;
      if (row.number !== keepFrom || !isSame || !isTraced(row)) break;
      keepFrom++;
    }
    if (keepFrom === first || !(await isProven(shared, first, keepFrom - 1))) return 0;
    const removed = this.#local.onDemand?.evict(0, (number) => number < first || number >= keepFrom);
    return (await removed?.finally(() => this.run.changed())) ?? 0;
  }
}

/** Whether the shared index has all rows of a range, by the proof of a filter that matches no trace. */
async function isProven(shared: SharedReader, fromBlock: number, toBlock: number): Promise<boolean> {
  const part = await shared.filter(
    {
      ...{ fromBlock, toBlock, fromAddresses: [NO_ADDRESS], toAddresses: [] },
      ...{ mode: 'intersection', after: 0, count: 0 },
    },
    { maxBytes: NO_BYTES },
  );
  return part !== undefined;
}
