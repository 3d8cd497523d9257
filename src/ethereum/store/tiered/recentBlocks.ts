import type { IndexChange, IndexedBlock, RecentPart, TraceStore } from '../../traces/index.ts';
import type { NewestBlocks } from './tieredTraceReader.ts';

/** An index that is thrown away when it has too many blocks. */
export interface RecentIndex {
  readonly store: TraceStore;
  /** Where other processes may read it. */
  readonly folder: string;
  /** Closes it, and removes what it kept. */
  discard(): Promise<void>;
}

/** An index without gaps, with what is known of it without asking. */
interface Generation {
  readonly index: RecentIndex;
  /** Undefined where it has no block. */
  first: number | undefined;
  head: number;
}

/**
 * The newest blocks, at least `keepBlocks` of them once so many have come, and never more than twice as many and a change. When the
 * index has `keepBlocks`, a second one is begun beside it; when that has as many, it takes the first one's place. So none is ever cut.
 */
export class RecentBlocks implements NewestBlocks {
  readonly #keepBlocks: number;
  readonly #open: () => Promise<RecentIndex>;
  #current: Generation | undefined;
  #next: Generation | undefined;
  /** Answers may still be read from those. */
  #retired: Generation[] = [];

  constructor(keepBlocks: number, open: () => Promise<RecentIndex>) {
    this.#keepBlocks = keepBlocks;
    this.#open = open;
  }

  /** The index, where it has every block of a range. */
  holding(fromBlock: number, toBlock: number): TraceStore | undefined {
    const { first, head = -1, index } = this.#current ?? {};
    return first !== undefined && fromBlock >= first && toBlock <= head ? index?.store : undefined;
  }

  /** The index, where it has any block. */
  get store(): TraceStore | undefined {
    return this.#current?.first === undefined ? undefined : this.#current.index.store;
  }

  get head(): number | undefined {
    return this.#current?.first === undefined ? undefined : this.#current.head;
  }

  /** What there is of it to be read by others. */
  get part(): RecentPart | undefined {
    const { first, head = -1, index } = this.#current ?? {};
    return index === undefined || first === undefined ? undefined : { folder: index.folder, first, head };
  }

  /** Applies what a change does to the newest blocks. Where that fails all is thrown away: it is kept elsewhere too. */
  async apply(change: IndexChange): Promise<void> {
    try {
      this.#current ??= await this.#begin();
      for (const generation of [this.#current, this.#next])
        if (generation !== undefined) await applyTo(generation, change);
      if ((change.blocks.at(-1)?.block.number ?? -1) > this.#current.head) await this.#beginAnew(change);
      await this.#turnOver();
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

  /** The chain goes on beyond a gap. */
  async #beginAnew(change: IndexChange): Promise<void> {
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

  async #turnOver(): Promise<void> {
    if (this.#next !== undefined && lengthOf(this.#next) >= this.#keepBlocks) {
      // Whoever began to read the one before this has long done so.
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
  if (!undone && added.length === 0) return;
  await store.apply({ blocks: added, ...(undone && { undoFrom }) });
  if (undone) {
    generation.head = undoFrom - 1;
    if (generation.first !== undefined && undoFrom <= generation.first) generation.first = undefined;
  }
  const [first, last] = [added[0], added.at(-1)];
  if (first === undefined || last === undefined) return;
  generation.first ??= first.block.number;
  generation.head = last.block.number;
}

/** The blocks of a change that follow each other and those that are there; others are no newest ones. */
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

const numberAt = (blocks: readonly IndexedBlock[], i: number): number => blocks[i]?.block.number ?? -2;
