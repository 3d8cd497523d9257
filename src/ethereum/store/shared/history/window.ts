import {
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  firstBlockOf,
  type HistoryPosition,
  type Order,
  segmentOf,
} from '../../../traces/index.ts';
import type { SegmentRange, SegmentState } from '../reads/segments.ts';

export interface WindowQuery {
  readonly range: BlockRange;
  readonly order: Order;
  readonly cursor: HistoryPosition | undefined;
  /** Maximum number of ranges of missing blocks to report. */
  readonly maxMissing: number;
}

/** The part of a range that one page searches, and its missing blocks. */
export interface Window {
  readonly range: BlockRange;
  /** The missing ranges after the cursor, ascending. */
  readonly missing: readonly BlockRange[];
  /** Number of the last block, in query order, up to which `missing` is complete. Undefined if it is complete. */
  readonly missingUpTo: number | undefined;
  /** Starts at the block of the cursor, and ends where `missing` stops being complete. */
  readonly searchRange: BlockRange;
  /** The segments of the page, whose fingerprints prove it. */
  readonly segments: SegmentRange;
  /** Writes in the segments of `searchRange` whose rows are not part of a result. */
  readonly ignored: readonly bigint[];
}

/** Maximum number of blocks that are searched for one page. */
const MAX_PAGE_BLOCKS = 4_096 * BLOCKS_PER_SEGMENT;

/** Returns the blocks that a page may search, before missing blocks are known. */
export function pageRange({ range, order, cursor }: Omit<WindowQuery, 'maxMissing'>): BlockRange {
  const { fromBlock, toBlock } =
    cursor === undefined ? range : upTo(range, cursor.blockNumber, opposite(order));
  return order === 'asc'
    ? { fromBlock, toBlock: Math.min(toBlock, fromBlock + MAX_PAGE_BLOCKS - 1) }
    : { fromBlock: Math.max(fromBlock, toBlock - MAX_PAGE_BLOCKS + 1), toBlock };
}

/** Returns the part of a range that one page searches. `within` is the result of `pageRange`, or the whole range. */
export function windowOf(
  { range, order, cursor, maxMissing }: WindowQuery,
  within: BlockRange,
  states: ReadonlyMap<number, SegmentState>,
): Window {
  const ahead = cursor === undefined ? within : afterBlock(within, cursor.blockNumber, order);
  const missing = missingIn(ahead, { order, max: maxMissing + 1, states });
  const isCut = missing.length > maxMissing;
  if (isCut) missing.pop();
  const last = missing.at(-1);
  const lastReported = last && (order === 'asc' ? last.toBlock : last.fromBlock);
  const isBounded = order === 'asc' ? within.toBlock < range.toBlock : within.fromBlock > range.fromBlock;
  const bound = order === 'asc' ? within.toBlock : within.fromBlock;
  const missingUpTo = isCut ? lastReported : isBounded ? bound : undefined;
  const searchRange = missingUpTo === undefined ? within : upTo(within, missingUpTo, order);
  const searched = segmentsOf(searchRange);
  return {
    ...{ range, missingUpTo, searchRange, segments: segmentsOf(within) },
    missing: order === 'asc' ? missing : missing.reverse(),
    ignored: [...states].flatMap(([segment, { ignored }]) =>
      segment >= searched.first && segment <= searched.last ? ignored : [],
    ),
  };
}

export const segmentsOf = ({ fromBlock, toBlock }: BlockRange): SegmentRange => ({
  ...{ first: segmentOf(fromBlock), last: segmentOf(toBlock) },
});

/** Returns the first missing ranges in query order, at most `max`. Neighbouring ranges are joined. */
function missingIn(
  within: BlockRange,
  {
    order,
    max,
    states,
  }: { readonly order: Order; readonly max: number; readonly states: ReadonlyMap<number, SegmentState> },
): BlockRange[] {
  const found: BlockRange[] = [];
  if (isEmpty(within)) return found;
  const { first, last } = segmentsOf(within);
  const step = order === 'asc' ? 1 : -1;
  for (let segment = order === 'asc' ? first : last; segment >= first && segment <= last; segment += step) {
    const gaps = states.get(segment)?.missing ?? [
      { fromBlock: firstBlockOf(segment), toBlock: firstBlockOf(segment + 1) - 1 },
    ];
    for (const gap of order === 'asc' ? gaps : [...gaps].reverse()) {
      const clipped = {
        fromBlock: Math.max(gap.fromBlock, within.fromBlock),
        toBlock: Math.min(gap.toBlock, within.toBlock),
      };
      if (isEmpty(clipped)) continue;
      const before = found.at(-1);
      if (before !== undefined && order === 'asc' && before.toBlock + 1 === clipped.fromBlock)
        found[found.length - 1] = { fromBlock: before.fromBlock, toBlock: clipped.toBlock };
      else if (before !== undefined && order === 'desc' && before.fromBlock - 1 === clipped.toBlock)
        found[found.length - 1] = { fromBlock: clipped.fromBlock, toBlock: before.toBlock };
      else if (found.length === max) return found;
      else found.push(clipped);
    }
  }
  return found;
}

const opposite = (order: Order): Order => (order === 'asc' ? 'desc' : 'asc');

/** Returns the part of a range after a block, in query order. */
const afterBlock = (range: BlockRange, blockNumber: number, order: Order): BlockRange =>
  upTo(range, blockNumber + (order === 'asc' ? 1 : -1), opposite(order));

/** Returns the part of a range up to and including a block, in the given order. */
export const upTo = ({ fromBlock, toBlock }: BlockRange, blockNumber: number, order: Order): BlockRange =>
  order === 'asc'
    ? { fromBlock, toBlock: Math.min(toBlock, blockNumber) }
    : { fromBlock: Math.max(fromBlock, blockNumber), toBlock };

export const isEmpty = ({ fromBlock, toBlock }: BlockRange): boolean => fromBlock > toBlock;
