import { MAX_TRACES_PER_BLOCK } from '../position.ts';
import type { BlockRange, HistoryPosition, Order } from './query.ts';
import type { Missing } from './reader.ts';

export const isEmptyRange = ({ fromBlock, toBlock }: BlockRange): boolean => fromBlock > toBlock;

/** Returns the blocks of a range that follow a block in the given order. */
export const rangeAfter = (range: BlockRange, blockNumber: number, order: Order): BlockRange =>
  order === 'asc'
    ? { ...range, fromBlock: Math.max(range.fromBlock, blockNumber + 1) }
    : { ...range, toBlock: Math.min(range.toBlock, blockNumber - 1) };

/** Returns the blocks of a range up to and including a block, in the given order. */
export const rangeUpTo = (range: BlockRange, blockNumber: number, order: Order): BlockRange =>
  order === 'asc'
    ? { ...range, toBlock: Math.min(range.toBlock, blockNumber) }
    : { ...range, fromBlock: Math.max(range.fromBlock, blockNumber) };

/** Returns the last possible position in a block, in the given order. */
export const edgeOf = (blockNumber: number, order: Order): HistoryPosition => ({
  blockNumber,
  traceIndex: order === 'asc' ? MAX_TRACES_PER_BLOCK - 1 : 0,
});

/** Returns the parts of ranges that are in another range. */
export const clipped = (ranges: readonly BlockRange[], { fromBlock, toBlock }: BlockRange): BlockRange[] =>
  ranges
    .map((range) => ({
      fromBlock: Math.max(range.fromBlock, fromBlock),
      toBlock: Math.min(range.toBlock, toBlock),
    }))
    .filter((range) => !isEmptyRange(range));

/** Joins adjacent gaps, which are in the given order, and returns the first `max` of them in a range, ascending. */
export function firstGaps(
  gaps: Iterable<BlockRange>,
  { range, order, max }: { readonly range: BlockRange; readonly order: Order; readonly max: number },
): Missing {
  const found: BlockRange[] = [];
  const ascending = (): BlockRange[] => (order === 'asc' ? found : found.reverse());
  for (const gap of gaps) {
    const [next] = clipped([gap], range);
    if (next === undefined || joins(found, next, order)) continue;
    if (found.length === max)
      return { ranges: ascending(), coveredUpTo: order === 'asc' ? next.fromBlock - 1 : next.toBlock + 1 };
    found.push(next);
  }
  return { ranges: ascending() };
}

/** Extends the last range of `found` by `next` if the two are adjacent. Returns false otherwise. */
function joins(found: BlockRange[], next: BlockRange, order: Order): boolean {
  const last = found.at(-1);
  if (last === undefined) return false;
  const [low, high] = order === 'asc' ? [last, next] : [next, last];
  if (low.toBlock + 1 !== high.fromBlock) return false;
  found[found.length - 1] = { fromBlock: low.fromBlock, toBlock: high.toBlock };
  return true;
}
