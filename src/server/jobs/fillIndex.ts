import {
  AdaptiveConcurrency,
  ASSUMED_FINAL_DEPTH,
  fillRange,
  type MissingBlocks,
  missingBlocks,
} from '../../ethereum/ingest/index.ts';
import {
  type BlockSource,
  type Finality,
  finalNumber,
  type IndexTraceLimits,
  type TraceProvider,
} from '../../ethereum/nodes/index.ts';
import type { IndexedBlock, TraceStore } from '../../ethereum/traces/index.ts';
import { withNodes } from '../ethereum/withNodes.ts';
import { IndexingError, type IndexLocation, type NoSpace, withIndex } from './withIndex.ts';

/** Indexing ends after this number of consecutive failures, which take about four minutes with their pauses. */
const MAX_FAILURES_IN_A_ROW = 12;

export interface FillOptions {
  readonly fromBlock: number;
  /** Last block to index. Default: the newest final block. */
  readonly toBlock: number | undefined;
  /** Rule that decides which blocks are final. Default: as the source reports. */
  readonly finality?: Finality | undefined;
  readonly signal: AbortSignal;
  readonly progress: FillProgress;
  /** Default: blocks may always be written. */
  readonly noSpace?: NoSpace;
}

export interface FillIndexOptions extends FillOptions, IndexLocation {
  readonly upstream: readonly string[];
  readonly traceLimits: IndexTraceLimits;
}

export interface FillProgress {
  started(fromBlock: number, toBlock: number, missing: number): void;
  written(blocks: readonly IndexedBlock[], underWay: number): void;
  trouble(message: string): void;
}

/** Indexes blocks while no server runs: locks the data folder. Rejects with IndexingError or store errors. */
export function fillIndex(options: FillIndexOptions): Promise<{ complete: boolean }> {
  const trouble = (message: string): void => options.progress.trouble(message);
  return withIndex(
    options,
    async (store, noSpace) =>
      withNodes({ ...options, chain: await store.chain(), trouble }, (source) =>
        fillFrom(source, store, { ...options, noSpace }),
      ),
    { create: true },
  );
}

export type FilledStore = MissingBlocks &
  Pick<TraceStore, 'bindChain' | 'head' | 'apply' | 'onDemand' | 'tracesPerChange'> & {
    /** Whether the index may contain only final blocks. Default: false. */
    readonly isFinalOnly?: boolean;
  };

/** Adds the missing blocks of a range to an index. Rejects with IndexingError or store errors. */
export async function fillFrom(
  source: TraceProvider | BlockSource,
  store: FilledStore,
  { fromBlock, toBlock: asked, finality, signal, progress, noSpace = () => undefined }: FillOptions,
): Promise<{ complete: boolean }> {
  await store.bindChain(await source.chain());
  const toBlock = await lastBlock(source, store, { asked, finality });
  if (fromBlock > toBlock)
    throw new IndexingError(`--from ${fromBlock} is after the last block to index, ${toBlock}`);
  await store.onDemand?.keep(fromBlock, toBlock);
  const missing = await countMissing(store, fromBlock, toBlock);
  progress.started(fromBlock, toBlock, missing);
  const pace = new AdaptiveConcurrency();
  await fillRange({
    store,
    source,
    fromBlock,
    toBlock,
    concurrency: pace,
    signal,
    async apply(change) {
      const reason = noSpace();
      if (reason !== undefined)
        throw new IndexingError(
          `${reason}. Indexed blocks are kept: free disk space, then run the same command again`,
        );
      await store.apply(change);
    },
    written: (blocks) => progress.written(blocks, pace.limit),
    failed(error, retryMs, failuresInARow) {
      if (failuresInARow >= MAX_FAILURES_IN_A_ROW)
        throw new IndexingError(
          `gave up after ${failuresInARow} consecutive failures: ${error.message}. Indexed blocks are kept: run the same command again to continue`,
        );
      progress.trouble(`${error.message}; trying again in ${retryMs / 1000} s`);
    },
  });
  return { complete: (await store.firstMissing(fromBlock, toBlock)) === undefined };
}

/**
 * Returns the number of the last block to index. Throws IndexingError if it is above the chain's head, or if it is
 * not final and blocks between it and the head of the index are missing.
 */
async function lastBlock(
  source: Pick<TraceProvider, 'heads'>,
  store: FilledStore,
  { asked, finality }: { readonly asked: number | undefined; readonly finality: Finality | undefined },
): Promise<number> {
  const { latest } = await source.heads();
  const final = await finalBlockOf(source, finality);
  if (asked === undefined) return final;
  if (store.isFinalOnly && asked > final)
    throw new IndexingError(`--to ${asked} is not final yet; the highest final block is ${final}`);
  if (asked > latest.number)
    throw new IndexingError(`--to ${asked} is past the head of the chain, block ${latest.number}`);
  const head = (await store.head())?.number ?? -1;
  if (asked > final && asked < head && (await store.firstMissing(asked, head)) !== undefined)
    throw new IndexingError(
      `block ${asked} is not final yet (block ${final} is), and the index continues after it: index up to ${final}; the server indexes the rest`,
    );
  return asked;
}

/** Returns the number of the highest final block of a source. If no block is final, one of a safe depth. */
export async function finalBlockOf(
  source: Pick<TraceProvider, 'heads'>,
  finality: Finality = 'node',
): Promise<number> {
  const heads = await source.heads();
  return finalNumber(finality, heads) ?? Math.max(0, heads.latest.number - ASSUMED_FINAL_DEPTH);
}

async function countMissing(store: MissingBlocks, fromBlock: number, toBlock: number): Promise<number> {
  let count = 0;
  for await (const _ of missingBlocks(store, fromBlock, toBlock)) count++;
  return count;
}
