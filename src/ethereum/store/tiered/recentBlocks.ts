import type { IndexChange, IndexedBlock, RecentPart, TraceStore } from '../../traces/index.ts';
import type { NewestBlocks } from './tieredTraceReader.ts';

/**
 * A local trace index of the newest blocks. When it has too many blocks, another one replaces it, and it is deleted.
 */
export interface RecentIndex {
  readonly store: TraceStore;
  /** Folder of the index, from which other processes can read it. */
  readonly folder: string;
  discard(): Promise<void>;
}

interface Generation {
  readonly index: RecentIndex;
  /** Number of the lowest block in the index. Undefined if the index has no blocks. */
  first: number | undefined;
  head: number;
}

/**
 * Local trace index of the newest blocks: at least `keepBlocks`, and at most twice as many plus those of one change.
 * Blocks are never removed from its start. When the index has `keepBlocks` blocks, a second index is started, to
 * which new blocks are added too. When the second index has `keepBlocks` blocks, it replaces the first.
 */
export class RecentBlocks implements NewestBlocks {
  readonly #keepBlocks: number;
  readonly #open: () => Promise<RecentIndex>;
  #current: Generation | undefined;
  #next: Generation | undefined;
  /** Indexes that were replaced, but not deleted yet, because reads from them may still be running. */
  #retired: Generation[] = [];

  constructor(keepBlocks: number, open: () => Promise<RecentIndex>) {
    this.#keepBlocks = keepBlocks;
    this.#open = open;
  }

  /** Returns the current index if it has every block of the range. */
  covering(fromBlock: number, toBlock: number): TraceStore | undefined {
    const { first, head = -1, index } = this.#current ?? {};
    return first !== undefined && fromBlock >= first && toBlock <= head ? index?.store : undefined;
  }

  get store(): TraceStore | undefined {
    return this.#current?.first === undefined ? undefined : this.#current.index.store;
  }

  get head(): number | undefined {
    return this.#current?.first === undefined ? undefined : this.#current.head;
  }

  /** Folder and block range of the current index, for processes that read it. */
  get part(): RecentPart | undefined {
    const { first, head = -1, index } = this.#current ?? {};
    return index === undefined || first === undefined ? undefined : { folder: index.folder, first, head };
  }

  /**
   * Applies a change to the local index. If this fails, drops the local index, because the shared index has all
   * blocks.
   */
  async apply(change: IndexChange): Promise<void> {
    try {
      this.#current ??= await this.#begin();
      for (const generation of [this.#current, this.#next])
        if (generation !== undefined) await applyTo(generation, change);
      if ((change.blocks.at(-1)?.block.number ?? -1) > this.#current.head) await this.#restart(change);
      await this.#rotate();
    } catch (error) {
      this.#retire(this.#current, this.#next);
      this.#current = undefined;
      this.#next = undefined;
      throw error;
    }
  }

  async discard(): Promise<void> {
    this.#retire(this.#current, this.#next);
    this.#current = undefined;
    this.#next = undefined;
    await this.#discardRetired();
  }

  /** Starts a new index with the blocks of a change, if they do not continue the current index without a gap. */
  async #restart(change: IndexChange): Promise<void> {
    this.#retire(this.#current, this.#next);
    this.#next = undefined;
    this.#current = await this.#begin();
    await applyTo(this.#current, change);
  }

  #retire(...generations: (Generation | undefined)[]): void {
    this.#retired.push(...generations.filter((generation) => generation !== undefined));
  }

  async #discardRetired(): Promise<void> {
    for (const { index } of this.#retired.splice(0)) await index.discard();
  }

  async #begin(): Promise<Generation> {
    return { index: await this.#open(), first: undefined, head: -1 };
  }

  async #rotate(): Promise<void> {
    if (this.#next !== undefined && lengthOf(this.#next) >= this.#keepBlocks) {
      // An index that was replaced earlier is not read any more: reads from it ended long ago.
      await this.#discardRetired();
      this.#retire(this.#current);
      this.#current = this.#next;
      this.#next = undefined;
    }
    if (this.#current !== undefined && lengthOf(this.#current) >= this.#keepBlocks)
      this.#next ??= await this.#begin();
  }
}

const lengthOf = ({ first, head }: Generation): number => (first === undefined ? 0 : head - first + 1);

async function applyTo(generation: Generation, { undoFrom, blocks }: IndexChange): Promise<void> {
  const { store } = generation.index;
  const added = joining(generation, undoFrom, blocks);
  const undone = undoFrom !== undefined && generation.first !== undefined && undoFrom <= generation.head;
  const traced = undone ? [] : tracedSince(generation, blocks);
  if (!undone && added.length + traced.length === 0) return;
  await store.apply({ blocks: [...traced, ...added], ...(undone && { undoFrom }) });
  if (undone) {
    generation.head = undoFrom - 1;
    if (generation.first !== undefined && undoFrom <= generation.first) generation.first = undefined;
  }
  const [first, last] = [added[0], added.at(-1)];
  if (first === undefined || last === undefined) return;
  generation.first ??= first.block.number;
  generation.head = last.block.number;
}

/** Returns the blocks of a change that continue an index without a gap. */
function joining(
  { first, head }: Generation,
  undoFrom: number | undefined,
  blocks: readonly IndexedBlock[],
): readonly IndexedBlock[] {
  const isEmpty = first === undefined || (undoFrom !== undefined && undoFrom <= first);
  const run = blocks.slice(
    blocks.findLastIndex(({ block }, i) => block.number !== numberAt(blocks, i - 1) + 1),
  );
  const next = isEmpty ? numberAt(run, 0) : Math.min(head + 1, undoFrom ?? head + 1);
  const from = run.findIndex(({ block }) => block.number === next);
  return from < 0 ? [] : run.slice(from);
}

/**
 * Returns the blocks of a change whose numbers the index already has. Those that it records as unavailable may now
 * have traces.
 */
function tracedSince({ first, head }: Generation, blocks: readonly IndexedBlock[]): readonly IndexedBlock[] {
  if (first === undefined) return [];
  return blocks.filter(({ block }) => block.number >= first && block.number <= head);
}

const numberAt = (blocks: readonly IndexedBlock[], i: number): number => blocks[i]?.block.number ?? -2;
