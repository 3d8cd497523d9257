import { NodeError, type TraceProvider } from '../nodes/index.ts';
import { type IndexedBlock, indexBlock, type TraceStore } from '../traces/index.ts';
import { type Pace, steadyPace } from './pace.ts';

/** Blocks written in one transaction while catching up: many, as each commit is flushed to disk. */
export const MAX_BLOCKS_PER_BATCH = 64;
/** Fewer where blocks are large, unless the store asks for more: what is fetched is held in memory until it is written, about 500 bytes a trace. */
const TRACES_PER_BATCH = 12_288;

interface Fetching {
  /** What they are fetched for. */
  readonly store: Pick<TraceStore, 'tracesPerChange'>;
  readonly source: TraceProvider;
  readonly signal: AbortSignal;
  /** The steady one where it is left out. */
  readonly pace?: Pace;
}

/**
 * Fetches blocks by their numbers and makes them ready to be written, in batches in the order of the numbers. Several are
 * asked for at a time, and the next batch is fetched while the last one is worked on. Consecutive numbers must be parent and
 * child. Rejects with NodeError where a block cannot be had.
 */
export async function* fetchBlocks(
  numbers: readonly number[],
  { store, source, signal, pace = steadyPace() }: Fetching,
): AsyncGenerator<IndexedBlock[]> {
  const underWay: Promise<IndexedBlock>[] = [];
  let next = 0;
  const startMore = (): void => {
    while (underWay.length < pace.limit && next < numbers.length) {
      const fetched = fetchBlock(source, numbers[next++] ?? 0, signal);
      // It is awaited when its turn comes; until then its failure must not count as unhandled.
      fetched.catch(() => undefined);
      underWay.push(fetched);
    }
  };

  let batch: IndexedBlock[] = [];
  let traces = 0;
  let previous: IndexedBlock | undefined;
  startMore();
  for (let fetched = underWay.shift(); fetched !== undefined; fetched = underWay.shift()) {
    startMore();
    const block = await fetched.catch((error: unknown) => ({ error }));
    if ('error' in block) {
      // What came before it is not lost: else a node that fails at times would never be done with.
      if (batch.length > 0) yield batch;
      throw block.error;
    }
    pace.answered();
    checkLink(previous, block);
    previous = block;
    batch.push(block);
    traces += block.block.traceCount;
    if (batch.length >= MAX_BLOCKS_PER_BATCH || traces >= (store.tracesPerChange ?? TRACES_PER_BATCH)) {
      yield batch;
      batch = [];
      traces = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** The numbers from `first` to `last`. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);

async function fetchBlock(source: TraceProvider, number: number, signal: AbortSignal): Promise<IndexedBlock> {
  if (signal.aborted) throw new NodeError('unreachable', 'indexing stops');
  const block = await source.block(number);
  if (block === undefined)
    throw new NodeError('nonsense', `the node has no block ${number}, though its head is above`);
  return indexBlock(block.header, block.traces);
}

/** The node's chain may change while its blocks are fetched: then they are fetched again. */
function checkLink(parent: IndexedBlock | undefined, child: IndexedBlock): void {
  if (parent === undefined || parent.block.number !== child.block.number - 1) return;
  if (parent.block.hash === child.block.parentHash) return;
  throw new NodeError(
    'nonsense',
    `block ${child.block.number} is not the child of block ${parent.block.number}: the chain changed meanwhile`,
  );
}
