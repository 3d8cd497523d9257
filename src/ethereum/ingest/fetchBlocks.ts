import { awaitedLater } from '../../platform/background/index.ts';
import { NodeError, type TraceProvider } from '../nodes/index.ts';
import { type IndexedBlock, indexBlock, indexUnavailable, type TraceStore } from '../traces/index.ts';
import { type AdaptiveConcurrency, boundedConcurrency } from './adaptiveConcurrency.ts';

/** Maximum number of blocks per transaction while catching up. Large transactions need fewer flushes to disk. */
export const MAX_BLOCKS_PER_BATCH = 64;
/** Maximum traces per transaction, unless the store sets a limit. A trace uses some 500 bytes until it is written. */
const TRACES_PER_BATCH = 12_288;
/** Maximum bytes of chunks per transaction, for blocks with much data in few traces. */
const BYTES_PER_BATCH = 32 * 1024 * 1024;
/** Blocks above this size reduce parallel fetches, because finished blocks wait in memory for the ones before them. */
const LARGE_BLOCK_BYTES = 4 * 1024 * 1024;

interface Fetching {
  readonly store: Pick<TraceStore, 'tracesPerChange'>;
  readonly source: TraceProvider;
  readonly signal: AbortSignal;
  /** Default: `boundedConcurrency()`. */
  readonly concurrency?: AdaptiveConcurrency;
}

/**
 * Fetches blocks by number, several in parallel, and yields them in write-ready batches in number order. The next batch
 * is fetched while the caller processes the last one. Consecutive numbers must be parent and child. Rejects with
 * NodeError.
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
      // Keep the blocks fetched before the failure, so that an unreliable node still makes progress.
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
    if (isFull || batch.length >= MAX_BLOCKS_PER_BATCH) {
      yield batch;
      batch = [];
      [traces, bytes] = [0, 0];
    }
  }
  if (batch.length > 0) yield batch;
}

export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);

async function fetchBlock(source: TraceProvider, number: number, signal: AbortSignal): Promise<IndexedBlock> {
  if (signal.aborted) throw new NodeError('unreachable', 'indexing is stopping');
  const block = await source.block(number);
  if (block === undefined)
    throw new NodeError('nonsense', `the node has no block ${number}, although its head is higher`);
  const { header, traces, unavailable } = block;
  return unavailable === undefined ? indexBlock(header, traces) : indexUnavailable(header, unavailable);
}

/** The node's chain may change while its blocks are fetched. The error makes the caller fetch them again. */
function checkLink(parent: IndexedBlock | undefined, child: IndexedBlock): void {
  if (parent === undefined || parent.block.number !== child.block.number - 1) return;
  if (parent.block.hash === child.block.parentHash) return;
  throw new NodeError(
    'nonsense',
    `block ${child.block.number} is not the child of block ${parent.block.number}: the chain changed during the fetch`,
  );
}
