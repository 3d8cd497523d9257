import { type Hash, indexBlock, type Trace, type TraceStore } from '../../src/ethereum/traces/index.ts';
import type { Random } from '../support/random.ts';
import {
  type ChainShape,
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../support/syntheticChain.ts';

export const shape: ChainShape = { addresses: syntheticAddresses(12), maxTransactions: 12, maxFrames: 6 };

export const add = (store: TraceStore, blocks: readonly SyntheticBlock[], undoFrom?: number): Promise<void> =>
  store.apply({
    ...(undoFrom !== undefined && { undoFrom }),
    blocks: blocks.map(({ header, traces }) => indexBlock(header, traces)),
  });

/** A chain in a store, and a copy in memory: it grows, is reorganised and becomes final. */
export class GrowingChain {
  readonly random: Random;
  readonly #first: number;
  readonly #blocks = new Map<number, SyntheticBlock>();
  /** The number of the next block. */
  next: number;
  finalized: number | undefined;
  /** Cached; undefined after a change of the blocks. */
  #numbers: readonly number[] | undefined;
  #traces: readonly Trace[] | undefined;

  constructor(random: Random, first: number) {
    this.random = random;
    this.#first = first;
    this.next = first;
  }

  get blocks(): ReadonlyMap<number, SyntheticBlock> {
    return this.#blocks;
  }

  get numbers(): readonly number[] {
    this.#numbers ??= [...this.#blocks.keys()].sort((a, b) => a - b);
    return this.#numbers;
  }

  get traces(): readonly Trace[] {
    this.#traces ??= this.numbers.flatMap((number) => this.#blocks.get(number)?.traces ?? []);
    return this.#traces;
  }

  async grow(store: TraceStore, count = this.random.between(1, 60)): Promise<void> {
    await add(store, this.#continue(this.#blocks, this.next, count));
    this.next += count;
  }

  async reorganise(store: TraceStore): Promise<void> {
    const { random, next } = this;
    const undoFrom = Math.max(this.#first, (this.finalized ?? -1) + 1, next - random.between(1, 20));
    if (undoFrom >= next) return;
    for (let number = undoFrom; number < next; number++) this.#blocks.delete(number);
    const blocks = this.#continue(this.#blocks, undoFrom, random.between(1, 25));
    await add(store, blocks, undoFrom);
    this.next = undoFrom + blocks.length;
  }

  async finalize(store: TraceStore): Promise<void> {
    this.finalized = Math.min(this.next - 1, (this.finalized ?? this.#first) + this.random.below(30));
    await store.apply({ blocks: [], finalizedNumber: this.finalized });
  }

  /** Adds blocks that are final already, like old blocks of a node. */
  async growFinal(store: TraceStore, count: number): Promise<void> {
    const blocks = this.#continue(this.#blocks, this.next, count);
    this.next += count;
    this.finalized = this.next - 1;
    await store.apply({
      blocks: blocks.map(({ header, traces }) => indexBlock(header, traces)),
      finalizedNumber: this.finalized,
    });
  }

  /** Adds blocks below the first one, in descending order, so that each is inserted before all others. */
  async backfill(store: TraceStore): Promise<void> {
    const { random } = this;
    const first = this.#first;
    const before = new Map<number, SyntheticBlock>();
    this.#continue(before, first - 30, 29);
    const child = this.#blocks.get(first)?.header.parentHash;
    const last = syntheticBlock(random, shape, {
      number: first - 1,
      parentHash: before.get(first - 2)?.header.hash,
    });
    const header = { ...last.header, hash: child as Hash }; // the first block exists
    before.set(first - 1, {
      header,
      traces: last.traces.map((trace) => ({ ...trace, blockHash: header.hash })),
    });
    for (const block of [...before.values()].reverse()) {
      await add(store, [block]);
      this.put(block);
    }
  }

  /** Records a block that a test added to the store itself. */
  put(block: SyntheticBlock): void {
    this.#blocks.set(block.header.number, block);
    this.#changed();
  }

  #changed(): void {
    this.#numbers = undefined;
    this.#traces = undefined;
  }

  /** Creates blocks from a number on, each the child of the previous one in `blocks`. */
  #continue(blocks: Map<number, SyntheticBlock>, from: number, count: number): SyntheticBlock[] {
    this.#changed();
    return Array.from({ length: count }, (_, i) => {
      const number = from + i;
      const parentHash = blocks.get(number - 1)?.header.hash;
      const block = syntheticBlock(this.random, shape, { number, parentHash });
      blocks.set(number, block);
      return block;
    });
  }
}
