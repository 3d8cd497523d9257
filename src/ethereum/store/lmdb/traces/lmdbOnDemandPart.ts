import { type OnDemandPart, segmentOf } from '../../../traces/index.ts';
import type { TraceEnvironment } from './environment.ts';
import type { IndexState } from './indexState.ts';
import { uint32Key } from './keys.ts';
import { OnDemandChanges, oldestOnDemand, onDemandTotals } from './onDemandRecords.ts';
import { evictBlocks } from './write/evictBlocks.ts';
import { Writes } from './write/writes.ts';

/** Traces after which a step of an eviction ends. Removing their postings blocks the thread for some 10 ms. */
const TRACES_PER_STEP = 1024;
/** Maximum number of blocks in a step of an eviction, or of a change from on demand to permanent. */
const BLOCKS_PER_STEP = 1024;

export interface OnDemandPartDependencies {
  readonly environment: TraceEnvironment;
  readonly state: () => IndexState;
  /** Runs a step while no other change of the index runs. */
  readonly runExclusive: (step: () => Promise<number>) => Promise<number>;
  readonly commit: (writes: Writes) => Promise<void>;
  /** Called before blocks of these segments are removed. */
  readonly changing: (segments: Iterable<number>) => void;
}

/** The on-demand blocks of an index in LMDB. Each step is one transaction, and other changes may run between steps. */
export class LmdbOnDemandPart implements OnDemandPart {
  readonly #dependencies: OnDemandPartDependencies;

  constructor(dependencies: OnDemandPartDependencies) {
    this.#dependencies = dependencies;
  }

  bytes(): number {
    const { environment, state } = this.#dependencies;
    return onDemandTotals({ environment, state: state() }).bytes;
  }

  evict(maxBytes: number, isPinned: (blockNumber: number) => boolean): Promise<number> {
    return this.#inSteps(async () => {
      const { environment, state, commit, changing } = this.#dependencies;
      const numbers = this.#oldest(maxBytes, isPinned);
      if (numbers.length === 0) return 0;
      const writes = evictBlocks(numbers, { environment, state: state() });
      changing(new Set(numbers.map(segmentOf)));
      await commit(writes);
      return numbers.length;
    });
  }

  async keep(fromBlock: number, toBlock: number): Promise<void> {
    await this.#inSteps(async () => {
      const { environment, state, commit } = this.#dependencies;
      const range = { start: uint32Key(fromBlock), end: uint32Key(Math.min(toBlock + 1, 2 ** 32 - 1)) };
      const writes = new Writes();
      const changes = new OnDemandChanges({ environment, state: state() }, writes);
      const keys = environment.onDemand.getKeys({ ...range, limit: BLOCKS_PER_STEP });
      const numbers = [...keys].map((key) => key.readUInt32BE(0));
      for (const number of numbers) changes.delete(number);
      changes.finish();
      if (numbers.length > 0) await commit(writes);
      return numbers.length;
    });
  }

  /** Returns the numbers of the blocks that the next step evicts. */
  #oldest(maxBytes: number, isPinned: (blockNumber: number) => boolean): number[] {
    const { environment, state } = this.#dependencies;
    const index = state();
    const head = index.head()?.number;
    const numbers: number[] = [];
    let [{ bytes: left }, traces] = [onDemandTotals({ environment, state: index }), 0];
    if (left <= maxBytes) return numbers;
    for (const { number, bytes } of oldestOnDemand({ environment, state: index })) {
      if (left <= maxBytes || traces >= TRACES_PER_STEP || numbers.length === BLOCKS_PER_STEP) break;
      if (number === head || isPinned(number)) continue;
      numbers.push(number);
      left -= bytes;
      traces += index.block(number)?.traceCount ?? 0;
    }
    return numbers;
  }

  /** Runs steps until one changes no block. Returns the number of changed blocks. */
  async #inSteps(step: () => Promise<number>): Promise<number> {
    const { runExclusive } = this.#dependencies;
    let total = 0;
    for (let changed = await runExclusive(step); changed > 0; changed = await runExclusive(step))
      total += changed;
    return total;
  }
}
