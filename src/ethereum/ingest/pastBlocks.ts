import { NodeError, type TraceProvider } from '../nodes/index.ts';
import { type IndexChange, IndexConflictError, type IndexedBlock, type TraceStore } from '../traces/index.ts';
import { fetchBlocks, MAX_BLOCKS_PER_BATCH, range } from './fetchBlocks.ts';

/** Blocks that are not final are added so many at a time, in memory until then: few enough for full mainnet blocks. */
const JOINED_AT_A_TIME = 16;

/** A block that was asked for cannot be had now. */
export class BlockUnavailableError extends Error {
  override readonly name = 'BlockUnavailableError';
  readonly blockNumber: number;

  constructor(blockNumber: number, options?: ErrorOptions) {
    super(`block ${blockNumber} is not in the index, and no node can give it now`, options);
    this.blockNumber = blockNumber;
  }
}

export interface PastBlocksOptions {
  readonly store: TraceStore;
  readonly source: TraceProvider;
  readonly signal: AbortSignal;
  /** Applies a change to the store. */
  readonly write: (change: IndexChange) => Promise<void>;
  /** The highest block that cannot be replaced any more. */
  readonly finalNumber: () => Promise<number>;
  /** Writes when nobody else does. */
  readonly inTurn: (write: () => Promise<void>) => Promise<void>;
  /** Brings the index to the chain as it is now. Rejects where that fails. */
  readonly catchUp: () => Promise<unknown>;
}

/**
 * Fetches blocks below the index's head when they are asked for, each once, however many ask. They are fetched beside
 * whatever else goes on; only writing waits its turn.
 *
 * A block that is final may stand by itself. One that is not may be replaced, and only whoever walks down from the head
 * notices: so it is added together with all blocks between it and the followed chain, from above, each the parent of what
 * is there.
 */
export class PastBlocks {
  readonly #options: PastBlocksOptions;
  /** Fetches under way, by each block that they fetch. */
  readonly #underWay = new Map<number, Promise<void>>();

  constructor(options: PastBlocksOptions) {
    this.#options = options;
  }

  /**
   * Adds block `first`, which is missing, and of those up to `last` as many as fit into one batch. Throws
   * BlockUnavailableError where one of them cannot be had.
   */
  async fetch(first: number, last: number): Promise<void> {
    const final = await this.#options.finalNumber();
    if (first > final) return this.#join(first);
    await this.#fetchOnce(range(first, Math.min(last, final, first + MAX_BLOCKS_PER_BATCH - 1)));
  }

  async #join(first: number): Promise<void> {
    try {
      await this.#joinFromAbove(first);
    } catch (error) {
      if (!isChainChange(error)) throw named(first, error);
      // The index may be behind the chain that the node has by now.
      await this.#options
        .catchUp()
        .then(() => this.#joinFromAbove(first))
        .catch((again: unknown) => {
          throw named(first, again);
        });
    }
  }

  async #joinFromAbove(first: number): Promise<void> {
    for (let last = await this.#lastOfGap(first); last !== undefined; last = await this.#lastOfGap(first))
      await this.#fetchOnce(range(Math.max(first, last - JOINED_AT_A_TIME + 1), last));
  }

  /** The last of the missing blocks from `first` on, the next one being there; undefined where `first` is there too. */
  async #lastOfGap(first: number): Promise<number | undefined> {
    if (!(await this.#isMissing(first))) return undefined;
    const head = (await this.#options.store.head())?.number ?? -1;
    let next = first + 1;
    while (next <= head && (await this.#isMissing(next))) next++;
    // The chain was cut off above: there is nothing to join any more.
    if (next > head) throw new BlockUnavailableError(first);
    return next - 1;
  }

  /** Fetches what is missing of some blocks, unless others do so already. */
  async #fetchOnce(numbers: readonly number[]): Promise<void> {
    for (const number of numbers)
      await this.#underWay.get(number)?.catch((error: unknown) => {
        // What failed them at a block that is not asked for here says nothing of these.
        if (error instanceof BlockUnavailableError && numbers.includes(error.blockNumber)) throw error;
      });
    const missing: number[] = [];
    for (const number of numbers) if (await this.#isMissing(number)) missing.push(number);
    if (missing.length === 0) return;
    // Others may have begun while the first of them were waited for.
    if (missing.some((number) => this.#underWay.has(number))) return this.#fetchOnce(missing);
    const added = this.#add(missing).finally(() => {
      for (const number of missing) this.#underWay.delete(number);
    });
    for (const number of missing) this.#underWay.set(number, added);
    await added;
  }

  async #add(numbers: readonly number[]): Promise<void> {
    const { store, source, signal, inTurn, finalNumber } = this.#options;
    const last = numbers.at(-1) ?? 0;
    const together: IndexedBlock[] = [];
    try {
      for await (const blocks of fetchBlocks(numbers, { store, source, signal }))
        if (last <= (await finalNumber())) await inTurn(() => this.#write(blocks));
        else together.push(...blocks);
      if (together.length > 0) await inTurn(() => this.#write(together));
    } catch (cause) {
      for (const number of signal.aborted ? [] : numbers)
        if (await this.#isMissing(number)) throw new BlockUnavailableError(number, { cause });
      throw new BlockUnavailableError(last, { cause });
    }
  }

  async #write(blocks: readonly IndexedBlock[]): Promise<void> {
    const { write, signal, finalNumber } = this.#options;
    if (signal.aborted) throw new NodeError('unreachable', 'indexing stops');
    const last = blocks.at(-1)?.block.number ?? 0;
    // What it was to join may have been undone while it was fetched.
    if (last > (await finalNumber()) && (await this.#isMissing(last + 1)))
      throw new IndexConflictError(`block ${last} is not final and joins no block of the index`);
    await write({ blocks });
  }

  async #isMissing(number: number): Promise<boolean> {
    // The store may be closed by the time that whoever waited goes on.
    if (this.#options.signal.aborted) throw new BlockUnavailableError(number);
    return (await this.#options.store.firstMissing(number, number)) !== undefined;
  }
}

/** The node's chain and the index's did not fit together: one of them has changed meanwhile. */
function isChainChange(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof IndexConflictError || (cause instanceof NodeError && cause.reason === 'nonsense');
}

/** Whoever asks hears of the block that was asked for; which one really failed is its cause. */
const named = (blockNumber: number, cause: unknown): BlockUnavailableError =>
  new BlockUnavailableError(blockNumber, { cause });
