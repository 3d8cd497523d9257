import { ASSUMED_FINAL_DEPTH, fillRange, missingBlocks, Pace } from '../ethereum/ingest/index.ts';
import { NodeError, type TraceProvider } from '../ethereum/nodes/index.ts';
import { openTraceStore } from '../ethereum/store/lmdb/traces/index.ts';
import type { IndexedBlock, TraceStore } from '../ethereum/traces/index.ts';
import { lockDataDir } from './dataDirLock.ts';
import { indexFolder } from './indexFolder.ts';
import { openNodes } from './openNodes.ts';

/** A node that fails so many times in a row is given up: about four minutes with the pauses in between. */
const MAX_FAILURES_IN_A_ROW = 12;

/** A range cannot be indexed; the message says what to do. */
export class IndexingError extends Error {
  override readonly name = 'IndexingError';
}

export interface FillOptions {
  readonly fromBlock: number;
  /** Left out: the newest block that is final. */
  readonly toBlock: number | undefined;
  readonly signal: AbortSignal;
  readonly progress: FillProgress;
}

export interface FillIndexOptions extends FillOptions {
  readonly dataDir: string;
  readonly network: string;
  readonly upstream: readonly string[];
}

/** Hears how far it is. */
export interface FillProgress {
  /** How many of the range's blocks are missing. */
  started(fromBlock: number, toBlock: number, missing: number): void;
  written(blocks: readonly IndexedBlock[], underWay: number): void;
  trouble(message: string): void;
}

/** Indexes a range of blocks beside no server: the data folder is locked. Rejects with IndexingError and what it throws. */
export async function fillIndex(options: FillIndexOptions): Promise<{ complete: boolean }> {
  const { dataDir, network, upstream, progress } = options;
  const lock = lockDataDir(dataDir);
  const store = openTraceStore(indexFolder(dataDir, network));
  const nodes = await openNodes(upstream, await store.chain(), (_, what, { message }) =>
    progress.trouble(`${what}: ${message}`),
  );
  try {
    return await fillFrom(nodes.source, store, options);
  } finally {
    await nodes.close();
    await store.close();
    lock.release();
  }
}

/** Adds what a store has not of a range. Rejects with IndexingError and what it throws. */
export async function fillFrom(
  source: TraceProvider,
  store: TraceStore & { readonly countMissing?: (fromBlock: number, toBlock: number) => Promise<number> },
  { fromBlock, toBlock: asked, signal, progress }: FillOptions,
): Promise<{ complete: boolean }> {
  try {
    await store.bindChain(await source.chain());
    const toBlock = await lastBlock(source, store, asked);
    if (fromBlock > toBlock)
      throw new IndexingError(`--from ${fromBlock} is after the last block to index, ${toBlock}`);
    const missing = await (store.countMissing?.(fromBlock, toBlock) ??
      countMissing(store, fromBlock, toBlock));
    progress.started(fromBlock, toBlock, missing);
    const pace = new Pace();
    await fillRange({
      store,
      source,
      fromBlock,
      toBlock,
      pace,
      signal,
      apply: (change) => store.apply(change),
      written: (blocks) => progress.written(blocks, pace.limit),
      failed(error, retryMs, failuresInARow) {
        if (failuresInARow >= MAX_FAILURES_IN_A_ROW)
          throw new IndexingError(
            `gave up after ${failuresInARow} failures in a row: ${error.message}. What was indexed is kept: run the same command again to go on`,
          );
        progress.trouble(`${error.message}; trying again in ${retryMs / 1000} s`);
      },
    });
    return { complete: (await store.firstMissing(fromBlock, toBlock)) === undefined };
  } catch (error) {
    throw error instanceof NodeError ? new IndexingError(`no node can be asked: ${error.message}`) : error;
  }
}

/** Blocks that may still be replaced are only indexed where the server will follow from them. */
async function lastBlock(
  source: TraceProvider,
  store: TraceStore,
  asked: number | undefined,
): Promise<number> {
  const { latest, finalized } = await source.heads();
  const final = finalized?.number ?? Math.max(0, latest.number - ASSUMED_FINAL_DEPTH);
  if (asked === undefined) return final;
  if (asked > latest.number)
    throw new IndexingError(`--to ${asked} is past the head of the chain, block ${latest.number}`);
  const head = (await store.head())?.number ?? -1;
  if (asked > final && asked < head && (await store.firstMissing(asked, head)) !== undefined)
    throw new IndexingError(
      `block ${asked} is not final yet (block ${final} is), and the index goes on behind it: index up to ${final}, the server follows the rest`,
    );
  return asked;
}

async function countMissing(store: TraceStore, fromBlock: number, toBlock: number): Promise<number> {
  let count = 0;
  for await (const _ of missingBlocks(store, fromBlock, toBlock)) count++;
  return count;
}
