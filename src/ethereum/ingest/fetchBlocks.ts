import { awaitedLater } from '../../platform/background/index.ts';
import { type BlockSource, NodeError, type TraceProvider } from '../nodes/index.ts';
import { type IndexedBlock, indexBlock, indexUnavailable, type TraceStore } from '../traces/index.ts';
import { type AdaptiveConcurrency, boundedConcurrency } from './adaptiveConcurrency.ts';

/** Maximum number of blocks per batch, which is written in one transaction. Large batches need fewer disk flushes. */
export const MAX_BLOCKS_PER_BATCH = 64;
/** Maximum traces per batch, unless the store sets a limit. A trace uses some 500 bytes of memory until written. */
const TRACES_PER_BATCH = 12_288;
/** Maximum bytes of chunks per batch. It bounds the memory for blocks with much data in few traces. */
const BYTES_PER_BATCH = 32 * 1024 * 1024;
/** Blocks above this size halve the parallel fetches, because fetched blocks wait in memory for the blocks before. */
const LARGE_BLOCK_BYTES = 4 * 1024 * 1024;

/** A source of blocks for an index. Some prepare them for storage themselves. */
export type IndexedSource = Pick<TraceProvider, 'block'> | Pick<BlockSource, 'indexedBlock'>;

interface Fetching {
  readonly store: Pick<TraceStore, 'tracesPerChange'>;
  readonly source: IndexedSource;
  readonly signal: AbortSignal;
  /** Limit of parallel fetches. Default: `boundedConcurrency()`. */
  readonly concurrency?: AdaptiveConcurrency;
}

/**
 * Fetches blocks by number, several in parallel, and yields batches in the order of the numbers, ready to be written.
 * More blocks are fetched while the caller processes a batch. Rejects with NodeError, also if two blocks with
 * consecutive numbers are not parent and child.
 */
export async function* fetchBlocks(
  numbers: readonly number[],
  { store, source, signal, concurrency = boundedConcurrency() }: Fetching,
): AsyncGenerator<IndexedBlock[]> {
  const underWay: Promise<IndexedBlock>[] = [];
  let next = 0;
  const startMore = (): void => {
    while (underWay.length < concurrency.limit && next < numbers.length) {
      underWay.push(awaitedLater(fetchBlock(source, numbers[next++] ?? 0, signal)));
    }
  };

  let batch: IndexedBlock[] = [];
  let [traces, bytes] = [0, 0];
  let previous: IndexedBlock | undefined;
  startMore();
  for (let fetched = underWay.shift(); fetched !== undefined; fetched = underWay.shift()) {
    startMore();
    const block = await fetched.catch((error: unknown) => ({ error }));
    if ('error' in block) {
      // Yield the blocks before the failure, so that an unreliable node does not prevent progress.
      if (batch.length > 0) yield batch;
      throw block.error;
    }
    const blockBytes = block.chunks.reduce((sum, { length }) => sum + length, 0);
    if (blockBytes > LARGE_BLOCK_BYTES) concurrency.failed();
    else concurrency.answered();
    checkLink(previous, block);
    previous = block;
    batch.push(block);
    traces += block.block.traceCount;
    bytes += blockBytes;
    const isFull = traces >= (store.tracesPerChange ?? TRACES_PER_BATCH) || bytes >= BYTES_PER_BATCH;
    // Batches end at the same numbers in each process, so that several processes write equal batches.
    if (
      isFull ||
      batch.length >= MAX_BLOCKS_PER_BATCH ||
      (block.block.number + 1) % MAX_BLOCKS_PER_BATCH === 0
    ) {
      yield batch;
      batch = [];
      [traces, bytes] = [0, 0];
    }
  }
  if (batch.length > 0) yield batch;
}

export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);

async function fetchBlock(
  source: Fetching['source'],
  number: number,
  signal: AbortSignal,
): Promise<IndexedBlock> {
  if (signal.aborted) throw new NodeError('unreachable', 'indexing is stopping');
  const block = await indexedBlockOf(source, number);
  if (block === undefined)
    throw new NodeError('nonsense', `the node has no block ${number}, although its head is higher`);
  return block;
}

/** Returns a block of a source, prepared for storage; undefined if there is none. */
export async function indexedBlockOf(
  source: IndexedSource,
  number: number,
): Promise<IndexedBlock | undefined> {
  if ('indexedBlock' in source) return source.indexedBlock(number);
  const block = await source.block(number);
  if (block === undefined) return undefined;
  const { header, traces, unavailable, lacksFrames } = block;
  if (unavailable !== undefined) return indexUnavailable(header, unavailable);
  return { ...indexBlock(header, traces), ...(lacksFrames && { lacksFrames }) };
}

/** Throws NodeError if a block is not the child of the block before. The chain has changed, so the caller retries. */
function checkLink(parent: IndexedBlock | undefined, child: IndexedBlock): void {
  if (parent === undefined || parent.block.number !== child.block.number - 1) return;
  if (parent.block.hash === child.block.parentHash) return;
  throw new NodeError(
    'nonsense',
    `block ${child.block.number} is not the child of block ${parent.block.number}: the chain changed during the fetch`,
  );
}
