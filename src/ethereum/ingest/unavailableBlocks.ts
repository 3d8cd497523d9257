import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeError } from '../nodes/index.ts';
import type { Hash, IndexChange, TraceStore, UnavailableBlock } from '../traces/index.ts';
import type { IndexerObserver } from './indexerObserver.ts';
import { type RetryBlockDependencies, retryBlock } from './retryBlock.ts';

/** Pause before the first retry of a block. It doubles with each retry of the block, up to `LAST_RETRY_MS`. */
const FIRST_RETRY_MS = 60_000;
const LAST_RETRY_MS = 3_600_000;
/** Pause before the first retry of a damaged block. Nodes can usually trace it, if they are healthy. */
const FIRST_DAMAGED_RETRY_MS = 100;
/** Interval at which unavailable blocks are read from the store. */
const READ_AGAIN_MS = 10_000;
/** Maximum number of unavailable blocks in memory, lowest first. When some become available, others follow. */
const MAX_KNOWN = 1_000;

export interface UnavailableBlocksDependencies extends RetryBlockDependencies {
  readonly store: Pick<TraceStore, 'block' | 'unavailable'>;
  readonly observer: Pick<IndexerObserver, 'available'>;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
}

interface Retry {
  readonly dueMs: number;
  readonly pauseMs: number;
}

/** Lists the unavailable blocks of the index, and retries them one at a time, each after growing pauses. */
export class UnavailableBlocks {
  readonly #pollIntervalMs: number;
  readonly #dependencies: UnavailableBlocksDependencies;
  readonly #retries = new Map<Hash, Retry>();
  #known: readonly UnavailableBlock[] = [];
  #readAgainMs = 0;

  constructor(pollIntervalMs: number, dependencies: UnavailableBlocksDependencies) {
    this.#pollIntervalMs = pollIntervalMs;
    this.#dependencies = dependencies;
  }

  /** The unavailable blocks of the index in ascending order, at most MAX_KNOWN. */
  get known(): readonly UnavailableBlock[] {
    return this.#known;
  }

  async changed({ blocks, undoFrom = Number.POSITIVE_INFINITY }: IndexChange): Promise<void> {
    const isTouched = this.#known.some(
      ({ number }) => number >= undoFrom || blocks.some(({ block }) => block.number === number),
    );
    if (!isTouched && blocks.every(({ block }) => block.unavailable === undefined)) return;
    await this.refresh();
  }

  /** Reads the unavailable blocks from the store now, or soon if that fails. */
  async refresh(): Promise<void> {
    await this.#read().catch(() => {
      this.#readAgainMs = 0;
    });
  }

  async run(): Promise<void> {
    const { signal, nowMs } = this.#dependencies;
    for (; !signal.aborted; await sleep(this.#pollIntervalMs, undefined, { signal }).catch(() => undefined)) {
      try {
        if (nowMs() >= this.#readAgainMs) await this.#read();
        await this.#retryDue();
      } catch {
        // If the store cannot be read or written, the chain follower reports that.
      }
    }
  }

  async #read(): Promise<void> {
    const { store, nowMs } = this.#dependencies;
    this.#readAgainMs = nowMs() + READ_AGAIN_MS;
    this.#known = await store.unavailable(0, Number.MAX_SAFE_INTEGER, MAX_KNOWN);
    const hashes = new Set(this.#known.map(({ hash }) => hash));
    for (const hash of this.#retries.keys()) if (!hashes.has(hash)) this.#retries.delete(hash);
    for (const { hash, unavailable } of this.#known)
      if (!this.#retries.has(hash)) {
        const pauseMs = unavailable === 'damaged' ? FIRST_DAMAGED_RETRY_MS : FIRST_RETRY_MS;
        this.#retries.set(hash, { dueMs: nowMs() + pauseMs, pauseMs });
      }
  }

  /** Retries the block that has been due for the longest time. */
  async #retryDue(): Promise<void> {
    const { observer, nowMs } = this.#dependencies;
    const dueMsOf = ({ hash }: UnavailableBlock): number => this.#retries.get(hash)?.dueMs ?? 0;
    const [block] = [...this.#known].sort((a, b) => dueMsOf(a) - dueMsOf(b));
    if (block === undefined || dueMsOf(block) > nowMs()) return;
    try {
      if ((await this.#retry(block)) === 'indexed') observer.available(block);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
    } finally {
      const pauseMs = Math.min(LAST_RETRY_MS, 2 * (this.#retries.get(block.hash)?.pauseMs ?? FIRST_RETRY_MS));
      if (this.#retries.has(block.hash)) this.#retries.set(block.hash, { dueMs: nowMs() + pauseMs, pauseMs });
    }
  }

  /** Retries a block. When aborted, does not wait for the nodes, because to trace a block may take minutes. */
  async #retry(block: UnavailableBlock): ReturnType<typeof retryBlock> {
    const { signal } = this.#dependencies;
    const retried = retryBlock(block, this.#dependencies);
    retried.catch(() => undefined); // awaited below, unless aborted
    const done = new AbortController();
    const aborted = once(signal, 'abort', { signal: done.signal }).then(() => 'unavailable' as const);
    try {
      return await Promise.race([retried, aborted]);
    } finally {
      done.abort();
      await aborted.catch(() => undefined);
    }
  }
}
