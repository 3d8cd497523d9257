import { existsSync, realpathSync } from 'node:fs';
import { openTraceReader } from '../../ethereum/store/lmdb/traces/index.ts';
import {
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  type CopyableIndex,
  type TraceReader,
  type TraceStore,
} from '../../ethereum/traces/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';
import { EmbeddedSource } from './embeddedSource.ts';
import { type FillIndexOptions, fillFrom } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';
import { IndexingError, type NoSpace, withIndex } from './withIndex.ts';

export interface MergeIndexOptions
  extends Pick<FillIndexOptions, 'dataDir' | 'network' | 'signal' | 'progress'> {
  /** Data folder whose index is added. It is only read, and locked during the merge. */
  readonly fromDataDir: string;
}

/**
 * Adds the blocks of another data folder's index that this one lacks. Locks both data folders. Rejects with
 * IndexingError if a block differs, and with WrongChainError if the index is of another chain.
 */
export async function mergeIndex(options: MergeIndexOptions): Promise<{ complete: boolean }> {
  const { dataDir, fromDataDir, network } = options;
  if (!existsSync(indexFolder(fromDataDir, network)))
    throw new IndexingError(`no index of ${network} in ${fromDataDir}: set --from-data-dir and --network`);
  if (existsSync(dataDir) && realpathSync(dataDir) === realpathSync(fromDataDir))
    throw new IndexingError(`--from-data-dir and --data-dir are the same folder, ${dataDir}`);
  const lock = lockDataDir(fromDataDir);
  try {
    const from = openTraceReader(indexFolder(fromDataDir, network));
    return await withIndex(options, (into, noSpace) => merge(from, into, { ...options, noSpace }), {
      create: true,
    }).finally(() => from.close());
  } finally {
    lock.release();
  }
}

async function merge(
  from: CopyableIndex,
  into: TraceStore,
  { signal, progress, noSpace }: MergeIndexOptions & { readonly noSpace: NoSpace },
): Promise<{ complete: boolean }> {
  const source = new EmbeddedSource(from);
  await into.bindChain(await source.chain());
  for await (const range of rangesOf(from)) await requireSameBlocks(from, into, range);
  let complete = true;
  for await (const range of rangesOf(from)) {
    const filled = await fillFrom(source, into, { ...range, signal, progress, noSpace });
    complete &&= filled.complete;
    if (signal.aborted) return { complete: false };
  }
  return { complete };
}

/** Yields the ranges of consecutive blocks of an index. */
async function* rangesOf(index: TraceReader): AsyncGenerator<BlockRange> {
  const head = (await index.head())?.number ?? -1;
  for (let fromBlock = 0; fromBlock <= head; ) {
    if ((await index.block(fromBlock)) === undefined) {
      const next = await index.lastBlock(fromBlock + BLOCKS_PER_SEGMENT);
      // If one of the next blocks exists, the first one is searched one by one.
      fromBlock += next === undefined || next.number < fromBlock ? BLOCKS_PER_SEGMENT : 1;
      continue;
    }
    const missing = await index.firstMissing(fromBlock, head);
    yield { fromBlock, toBlock: (missing ?? head + 1) - 1 };
    fromBlock = missing ?? head + 1;
  }
}

async function requireSameBlocks(from: TraceReader, into: TraceStore, range: BlockRange): Promise<void> {
  for (let number = range.fromBlock; number <= range.toBlock; number++) {
    const [added, held] = [await from.block(number), await into.block(number)];
    if (added === undefined || held === undefined || added.hash === held.hash) continue;
    throw new IndexingError(
      `block ${number} is ${held.hash} in the index, but ${added.hash} in the index that is added: one of them is of ` +
        'another chain, or was replaced by a reorganisation. Remove the wrong blocks with floodgate index --rewind',
    );
  }
}
