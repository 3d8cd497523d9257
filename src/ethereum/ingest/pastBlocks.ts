import { awaitedLater, inBackground } from '../../platform/background/index.ts';
import { sharedRuns } from '../../platform/serialQueue/index.ts';
import { NodeError, type TraceProvider } from '../nodes/index.ts';
import {
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  type TraceFailure,
  type TraceStore,
} from '../traces/index.ts';
import { fetchBlocks, MAX_BLOCKS_PER_BATCH, range } from './fetchBlocks.ts';
import { missingBlocks } from './missingBlocks.ts';

/** Maximum number of non-final blocks that are fetched into memory and added together. So many full blocks fit. */
const JOINED_AT_A_TIME = 16;

/** Time after a fetch for which its blocks are not evicted, so that the client's request can read them. */
const PINNED_MS = 10_000;
/** Bytes by which the blocks of running requests may exceed the budget: about nine full ranges of mainnet. */
const MAX_PINNED_BYTES = 1024 * 1024 * 1024;

/** Limits the blocks that are fetched for one client, and the processor time for them. */
export interface BlockMeter {
  /** Counts blocks. Throws if the client may not have that many fetched now. */
  charge(blocks: number): void;
  refund(blocks: number): void;
  /** Resolves when the next block may be fetched. */
  turn(): Promise<void>;
  /** Counts the processor time for a fetched block. */
  fetched(traces: number): void;
}

export const UNMETERED: BlockMeter = {
  charge: () => undefined,
  refund: () => undefined,
  turn: () => Promise.resolve(),
  fetched: () => undefined,
};

/** A block is not in the index and cannot be added to it now, or the index records the block as unavailable. */
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
        ? `block ${blockNumber} is not in the index, and ${isOfNodes(options.cause) ? 'no node returns it' : 'the server cannot add it'} now`
        : `block ${blockNumber} is unavailable: ${
            failure === 'damaged'
              ? 'it is damaged in the index, and no node has returned it yet'
              : `no node can trace it (${failure})`
          }`,
      options,
    );
    this.blockNumber = blockNumber;
    this.failure = failure;
  }
}

/** True if nodes did not return a block, or changed their chain. Otherwise the index cannot be written, for example. */
function isOfNodes(cause: unknown): boolean {
  if (cause instanceof BlockUnavailableError) return isOfNodes(cause.cause);
  return cause === undefined || cause instanceof NodeError || cause instanceof IndexConflictError;
}

export interface PastBlocksOptions {
  readonly store: TraceStore;
  readonly source: TraceProvider;
  readonly signal: AbortSignal;
  /** Maximum size of the blocks that are stored, in bytes. If they exceed it, the oldest are evicted. */
  readonly maxBytes: number;
  /** Blocks from this number on are never evicted, because ingest fetches all of them. */
  readonly permanentFrom: number;
  readonly pinnedMs?: number | undefined;
  /** Called after blocks were evicted. */
  readonly evicted: (blocks: number) => void;
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
  /** By block number, the number of running requests that need the block. Such blocks are not evicted. */
  readonly #pinned = new Map<number, number>();
  /** Evicts the oldest blocks until the others fit into the budget. */
  readonly evict = sharedRuns(() => this.#evict());

  constructor(options: PastBlocksOptions) {
    this.#options = options;
  }

  /**
   * Adds the missing block `first` and blocks up to `last` that fit into one batch. Throws BlockUnavailableError, and
   * errors of `meter`. Blocks that are not final are not metered, because they are few.
   */
  async fetch(first: number, last: number, meter: BlockMeter): Promise<void> {
    const { finalNumber, permanentFrom } = this.#options;
    const final = await finalNumber();
    if (first > final) return this.#join(first);
    const end = first < permanentFrom ? permanentFrom - 1 : last;
    await this.#fetchOnce(range(first, Math.min(last, final, end, first + MAX_BLOCKS_PER_BATCH - 1)), meter);
  }

  /** Returns the number of final blocks of a range that are missing, and that no running call fetches. */
  async countNew(first: number, last: number): Promise<number> {
    const final = await this.#options.finalNumber();
    let count = 0;
    for await (const number of missingBlocks(this.#options.store, first, Math.min(last, final)))
      if (!this.#underWay.has(number)) count++;
    return count;
  }

  /** Prevents the eviction of the blocks of a range, until some time after the returned function is called. */
  pin(first: number, last: number): () => void {
    const { pinnedMs = PINNED_MS } = this.#options;
    const numbers = range(first, last);
    for (const number of numbers) this.#pinned.set(number, (this.#pinned.get(number) ?? 0) + 1);
    const release = (): void => {
      for (const number of numbers) {
        const left = (this.#pinned.get(number) ?? 0) - 1;
        if (left > 0) this.#pinned.set(number, left);
        else this.#pinned.delete(number);
      }
      inBackground('eviction of blocks', this.evict);
    };
    return () => void setTimeout(release, pinnedMs).unref();
  }

  async #evict(): Promise<void> {
    const { store, maxBytes, evicted, signal } = this.#options;
    if (store.onDemand === undefined || signal.aborted || store.onDemand.bytes() <= maxBytes) return;
    const isPinned = (number: number): boolean => signal.aborted || this.#pinned.has(number);
    const freed = await store.onDemand.evict(maxBytes, isPinned);
    const more = await store.onDemand.evict(maxBytes + MAX_PINNED_BYTES, () => signal.aborted);
    if (freed + more > 0) evicted(freed + more);
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
  async #fetchOnce(numbers: readonly number[], meter = UNMETERED): Promise<void> {
    for (const number of numbers)
      await this.#underWay.get(number)?.catch((error: unknown) => {
        // The other call may have failed at a block that is not in this list. This does not concern this call.
        if (error instanceof BlockUnavailableError && numbers.includes(error.blockNumber)) throw error;
      });
    const missing: number[] = [];
    for (const number of numbers) if (await this.#isMissing(number)) missing.push(number);
    if (missing.length === 0) return;
    // While this call waited, other calls may have started to fetch some of its blocks.
    if (missing.some((number) => this.#underWay.has(number))) return this.#fetchOnce(missing, meter);
    meter.charge(missing.length);
    const added = awaitedLater(
      this.#add(missing, meter).finally(() => {
        for (const number of missing) this.#underWay.delete(number);
      }),
    );
    for (const number of missing) this.#underWay.set(number, added);
    await added.catch(async (error: unknown) => {
      let left = 0;
      for (const number of this.#options.signal.aborted ? [] : missing)
        if (await this.#isMissing(number)) left++;
      meter.refund(left);
      throw error;
    });
  }

  async #add(numbers: readonly number[], meter: BlockMeter): Promise<void> {
    const { store, signal, runExclusive, finalNumber, permanentFrom } = this.#options;
    const last = numbers.at(-1) ?? 0;
    const source = inTurns(this.#options.source, meter);
    const together: IndexedBlock[] = [];
    try {
      for await (const blocks of fetchBlocks(numbers, { store, source, signal }))
        if (last <= (await finalNumber())) {
          await runExclusive(() => this.#write(blocks, last < permanentFrom));
          await this.evict();
        } else together.push(...blocks);
      if (together.length > 0) await runExclusive(() => this.#write(together, false));
    } catch (cause) {
      for (const number of signal.aborted ? [] : numbers)
        if (await this.#isMissing(number)) throw new BlockUnavailableError(number, { cause });
      throw new BlockUnavailableError(last, { cause });
    }
  }

  async #write(blocks: readonly IndexedBlock[], onDemand: boolean): Promise<void> {
    const { write, signal, finalNumber } = this.#options;
    if (signal.aborted) throw new NodeError('unreachable', 'indexing is stopping');
    const last = blocks.at(-1)?.block.number ?? 0;
    // During the fetch, a reorganisation may have removed the block above.
    if (last > (await finalNumber()) && (await this.#isMissing(last + 1)))
      throw new IndexConflictError(`block ${last} is not final and does not connect to a block of the index`);
    await write({ blocks, onDemand });
  }

  async #isMissing(number: number): Promise<boolean> {
    // After the abort, the store may be closed when a waiting caller continues.
    if (this.#options.signal.aborted) throw new BlockUnavailableError(number);
    return (await this.#options.store.firstMissing(number, number)) !== undefined;
  }
}

/** Fetches each block when the scheduler serves the client. */
const inTurns = (source: TraceProvider, meter: BlockMeter): Pick<TraceProvider, 'block'> => ({
  async block(number) {
    await meter.turn();
    const block = await source.block(number);
    meter.fetched(block?.traces.length ?? 0);
    return block;
  },
});

/** True if the error shows that the node's chain and the index did not match, because one of them has changed. */
function isChainChange(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof IndexConflictError || (cause instanceof NodeError && cause.reason === 'nonsense');
}

/** Returns an error that names the block that the caller requested. Its cause names the block that failed. */
const named = (blockNumber: number, cause: unknown): BlockUnavailableError =>
  new BlockUnavailableError(blockNumber, { cause });
