import { awaitedLater } from '../../platform/background/index.ts';
import { NodeError, type TraceProvider } from '../nodes/index.ts';
import {
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  type TraceFailure,
  type TraceStore,
} from '../traces/index.ts';
import { fetchBlocks, MAX_BLOCKS_PER_BATCH, range } from './fetchBlocks.ts';

/** Maximum number of non-final blocks that are fetched into memory and added together. So many full blocks fit. */
const JOINED_AT_A_TIME = 16;

/** A block is not in the index, and no node returns this block, or the index records the block as unavailable. */
export class BlockUnavailableError extends Error {
  override readonly name = 'BlockUnavailableError';
  readonly blockNumber: number;
  /** Reason why no node can trace the block, if the index records the block as unavailable. */
  readonly failure: TraceFailure | undefined;

  constructor(
    blockNumber: number,
    { failure, ...options }: ErrorOptions & { readonly failure?: TraceFailure | undefined } = {},
  ) {
    super(
      failure === undefined
        ? `block ${blockNumber} is not in the index, and no node returns it now`
        : `block ${blockNumber} is unavailable: no node can trace it (${failure})`,
      options,
    );
    this.blockNumber = blockNumber;
    this.failure = failure;
  }
}

export interface PastBlocksOptions {
  readonly store: TraceStore;
  readonly source: TraceProvider;
  readonly signal: AbortSignal;
  readonly write: (change: IndexChange) => Promise<void>;
  readonly finalNumber: () => Promise<number>;
  /** Runs a write while no other write to the index runs. */
  readonly runExclusive: (write: () => Promise<void>) => Promise<void>;
  /** Moves the head of the index to the nodes' current chain. Rejects if that fails. */
  readonly catchUp: () => Promise<unknown>;
}

/**
 * Fetches blocks below the index's head on demand. Concurrent callers share one fetch per block. A final block may be
 * added alone. A non-final block may be replaced later. `findFork` detects this by a walk down from the head, which
 * ends at the first block still in the chain. Therefore the missing blocks above a non-final block are added too,
 * from the top down, so that each is the parent of a block in the index.
 */
export class OnDemandBlocks {
  readonly #options: PastBlocksOptions;
  /** By block number, the running fetch of the block. One fetch may have several blocks. */
  readonly #underWay = new Map<number, Promise<void>>();

  constructor(options: PastBlocksOptions) {
    this.#options = options;
  }

  /** Adds the missing block `first` and blocks up to `last` that fit into one batch. Throws BlockUnavailableError. */
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
      // The node's chain may have changed since the last pass. Move the index to that chain, then try again.
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

  /** Returns the last block of the gap that starts at `first`; undefined if `first` is not missing. */
  async #lastOfGap(first: number): Promise<number | undefined> {
    if (!(await this.#isMissing(first))) return undefined;
    const head = (await this.#options.store.head())?.number ?? -1;
    let next = first + 1;
    while (next <= head && (await this.#isMissing(next))) next++;
    // A reorganisation has removed all blocks above, so the gap does not end at a block of the index.
    if (next > head) throw new BlockUnavailableError(first);
    return next - 1;
  }

  /** Fetches the missing blocks of a list. First waits for other calls that fetch blocks of the list. */
  async #fetchOnce(numbers: readonly number[]): Promise<void> {
    for (const number of numbers)
      await this.#underWay.get(number)?.catch((error: unknown) => {
        // The other call may have failed at a block that is not in this list. This does not concern this call.
        if (error instanceof BlockUnavailableError && numbers.includes(error.blockNumber)) throw error;
      });
    const missing: number[] = [];
    for (const number of numbers) if (await this.#isMissing(number)) missing.push(number);
    if (missing.length === 0) return;
    // While this call waited, other calls may have started to fetch some of its blocks.
    if (missing.some((number) => this.#underWay.has(number))) return this.#fetchOnce(missing);
    const added = awaitedLater(
      this.#add(missing).finally(() => {
        for (const number of missing) this.#underWay.delete(number);
      }),
    );
    for (const number of missing) this.#underWay.set(number, added);
    await added;
  }

  async #add(numbers: readonly number[]): Promise<void> {
    const { store, source, signal, runExclusive, finalNumber } = this.#options;
    const last = numbers.at(-1) ?? 0;
    const together: IndexedBlock[] = [];
    try {
      for await (const blocks of fetchBlocks(numbers, { store, source, signal }))
        if (last <= (await finalNumber())) await runExclusive(() => this.#write(blocks));
        else together.push(...blocks);
      if (together.length > 0) await runExclusive(() => this.#write(together));
    } catch (cause) {
      for (const number of signal.aborted ? [] : numbers)
        if (await this.#isMissing(number)) throw new BlockUnavailableError(number, { cause });
      throw new BlockUnavailableError(last, { cause });
    }
  }

  async #write(blocks: readonly IndexedBlock[]): Promise<void> {
    const { write, signal, finalNumber } = this.#options;
    if (signal.aborted) throw new NodeError('unreachable', 'indexing is stopping');
    const last = blocks.at(-1)?.block.number ?? 0;
    // During the fetch, a reorganisation may have removed the block above.
    if (last > (await finalNumber()) && (await this.#isMissing(last + 1)))
      throw new IndexConflictError(`block ${last} is not final and does not connect to a block of the index`);
    await write({ blocks });
  }

  async #isMissing(number: number): Promise<boolean> {
    // After the abort, the store may be closed when a waiting caller continues.
    if (this.#options.signal.aborted) throw new BlockUnavailableError(number);
    return (await this.#options.store.firstMissing(number, number)) !== undefined;
  }
}

/** True if the error shows that the node's chain and the index did not match, because one of them has changed. */
function isChainChange(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof IndexConflictError || (cause instanceof NodeError && cause.reason === 'nonsense');
}

/** Returns an error that names the block that the caller requested. Its cause names the block that failed. */
const named = (blockNumber: number, cause: unknown): BlockUnavailableError =>
  new BlockUnavailableError(blockNumber, { cause });
