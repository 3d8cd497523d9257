import { NodeError } from '../nodes/index.ts';
import type { IndexedBlock, StoredBlock, UnavailableBlock } from '../traces/index.ts';
import {
  fetchBlocks,
  type IndexedSource,
  indexedBlockOf,
  MAX_BLOCKS_PER_BATCH,
  range,
} from './fetchBlocks.ts';
import { PollLoop } from './pollLoop.ts';

/** Maximum traces per write. A trace uses some 900 bytes of memory until it is written. */
const TRACES_PER_WRITE = 65_536;
/** Time for which a block must be missing before a server writes it, if another server may be about to write it. */
const OTHERS_MS = 30_000;
const RETRY_UNAVAILABLE_MS = 3_600_000;
const MAX_RETRIED = 1_000;

/** The shared index, as far as a filler uses it. */
export interface SharedIndex {
  lastBlock(upTo: number): Promise<StoredBlock | undefined>;
  firstMissing(fromBlock: number, toBlock: number): Promise<number | undefined>;
  unavailable(fromBlock: number, toBlock: number, max: number): Promise<readonly UnavailableBlock[]>;
  /** Writes the blocks that are missing. Returns how many it has written. */
  write(blocks: readonly IndexedBlock[]): Promise<number>;
}

export interface SharedFillerOptions {
  /** First block to write. Default: the block after the highest one of the shared index. */
  readonly fromBlock: number | undefined;
  readonly pollIntervalMs: number;
  readonly othersMs?: number;
}

export interface SharedFillerDependencies {
  /** Returns the shared index of the chain; undefined while the chain is not known. */
  readonly shared: () => SharedIndex | undefined;
  readonly source: IndexedSource;
  /** Returns the number of the highest final block; undefined while it is not known. */
  readonly finalNumber: () => number | undefined;
  readonly signal: AbortSignal;
  readonly written: (blocks: readonly IndexedBlock[]) => void;
  readonly failed: (error: unknown, retryMs: number) => void;
  readonly recovered: () => void;
  readonly nowMs: () => number;
}

/**
 * Writes missing final blocks to the shared index. Several servers may do so: a server writes a block at once only if
 * it wrote the block before. Otherwise it waits, because another server may be the one that writes.
 */
export class SharedFiller {
  readonly #options: SharedFillerOptions;
  readonly #dependencies: SharedFillerDependencies;
  readonly #loop: PollLoop;
  /** No block is missing below this number. */
  #filledTo = 0;
  /** The block after the last one that this server wrote. */
  #own: number | undefined;
  #seen: { readonly missing: number; readonly sinceMs: number } | undefined;
  #retryMs: number;

  constructor(options: SharedFillerOptions, dependencies: SharedFillerDependencies) {
    const { signal, failed, recovered, nowMs } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    this.#retryMs = nowMs() + RETRY_UNAVAILABLE_MS;
    this.#loop = new PollLoop(options.pollIntervalMs, {
      signal,
      failed,
      recovered,
      pass: () => this.#pass(),
    });
  }

  run(): Promise<void> {
    return this.#loop.run();
  }

  /** Writes the next run of missing blocks. Resolves with true if more blocks are missing. */
  async #pass(): Promise<boolean> {
    const { shared: current, finalNumber, nowMs } = this.#dependencies;
    const [shared, final] = [current(), finalNumber()];
    if (shared === undefined || final === undefined) return false;
    if (nowMs() >= this.#retryMs) await this.#retryUnavailable(shared, final);
    const head = (await shared.lastBlock(final))?.number;
    // The head is lower than before if the database was restored from a backup.
    this.#filledTo = Math.min(this.#filledTo, (head ?? -1) + 1);
    const from = Math.max(this.#options.fromBlock ?? (head ?? final - 1) + 1, this.#filledTo);
    const missing = from > final ? undefined : await shared.firstMissing(from, final);
    this.#filledTo = missing ?? final + 1;
    if (missing === undefined || (head !== undefined && this.#waitsForOthers(missing))) return false;
    const last = Math.min(final, missing - (missing % MAX_BLOCKS_PER_BATCH) + MAX_BLOCKS_PER_BATCH - 1);
    await this.#write(shared, range(missing, last));
    return true;
  }

  #waitsForOthers(missing: number): boolean {
    const { othersMs = OTHERS_MS } = this.#options;
    const nowMs = this.#dependencies.nowMs();
    if (missing === this.#own) return false;
    if (this.#seen?.missing !== missing) this.#seen = { missing, sinceMs: nowMs };
    return nowMs - this.#seen.sinceMs < othersMs;
  }

  async #write(shared: SharedIndex, numbers: readonly number[]): Promise<void> {
    const { source, signal, written } = this.#dependencies;
    const store = { tracesPerChange: TRACES_PER_WRITE };
    for await (const blocks of fetchBlocks(numbers, { store, source, signal })) {
      if (signal.aborted) return;
      const count = await shared.write(blocks);
      // If another server has written some of the blocks, that server goes on.
      this.#own = count === blocks.length ? (blocks.at(-1)?.block.number ?? 0) + 1 : undefined;
      if (count > 0) written(blocks);
      if (this.#own === undefined) return;
    }
  }

  async #retryUnavailable(shared: SharedIndex, final: number): Promise<void> {
    const { source, signal, written, nowMs } = this.#dependencies;
    this.#retryMs = nowMs() + RETRY_UNAVAILABLE_MS;
    for (const { number, hash } of await shared.unavailable(0, final, MAX_RETRIED)) {
      if (signal.aborted) return;
      const block = await indexedBlockOf(source, number).catch((error: unknown) => {
        if (!(error instanceof NodeError)) throw error;
      });
      if (block?.block.hash !== hash || block.block.unavailable !== undefined) continue;
      if ((await shared.write([block])) > 0) written([block]);
    }
  }
}
