import {
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  firstGaps,
  type HistoryQuery,
  MAX_MISSING_RANGES,
  type Order,
  rangeAfter,
  rangeUpTo,
  segmentOf,
} from '../../../traces/index.ts';
import type { Parameters } from '../connection/clickHouse.ts';
import { blocksOf, type Fingerprints, type SegmentState } from '../reads/segments.ts';
import type { TracePlace, TracePosition } from '../tables/position.ts';

/** The range of a history, and the position before one of its pages. */
export interface Walk extends Pick<HistoryQuery, 'order' | 'cursor'> {
  readonly range: BlockRange;
}

/** The part of a range that one page searches, and its missing blocks. */
export interface Window extends Walk {
  /** The missing ranges after the cursor, ascending. */
  readonly missing: readonly BlockRange[];
  /** Number of the last block, in query order, up to which `missing` is complete. Undefined if it is complete. */
  readonly missingUpTo: number | undefined;
  /** Starts at the block of the cursor, and ends where `missing` stops being complete. */
  readonly searchRange: BlockRange;
  /** The blocks of the segments whose fingerprints prove the page. */
  readonly proven: BlockRange;
  /** Writes in the proven segments whose rows are not part of a result. */
  readonly ignored: readonly bigint[];
}

/** Maximum number of blocks that are searched for one page. */
const MAX_PAGE_BLOCKS = 4_096 * BLOCKS_PER_SEGMENT;

/** Returns the blocks that a page may search, before missing blocks are known. */
export function pageRange({ range, order, cursor }: Walk): BlockRange {
  const step = order === 'asc' ? 1 : -1;
  const ahead = cursor === undefined ? range : rangeAfter(range, cursor.blockNumber - step, order);
  const start = order === 'asc' ? ahead.fromBlock : ahead.toBlock;
  return rangeUpTo(ahead, start + step * (MAX_PAGE_BLOCKS - 1), order);
}

/** Returns the part of a range that one page searches. `within` is the result of `pageRange`, or the whole range. */
export function windowOf(walk: Walk, within: BlockRange, states: ReadonlyMap<number, SegmentState>): Window {
  const { range, order, cursor } = walk;
  const ahead = cursor === undefined ? within : rangeAfter(within, cursor.blockNumber, order);
  const gaps = firstGaps(gapsOf(ahead, order, states), { range: ahead, order, max: MAX_MISSING_RANGES });
  const [end, bound] =
    order === 'asc' ? [range.toBlock, within.toBlock] : [range.fromBlock, within.fromBlock];
  const missingUpTo = gaps.coveredUpTo ?? (bound === end ? undefined : bound);
  const searchRange = missingUpTo === undefined ? within : rangeUpTo(within, missingUpTo, order);
  const ignored = [...states.values()].flatMap((state) => state.ignored);
  return { ...walk, missing: gaps.ranges, missingUpTo, searchRange, proven: within, ignored };
}

/** Yields the missing blocks of the segments of a range, in the given order. */
function* gapsOf(
  range: BlockRange,
  order: Order,
  states: ReadonlyMap<number, SegmentState>,
): Generator<BlockRange> {
  const [first, last] = [segmentOf(range.fromBlock), segmentOf(range.toBlock)];
  for (let i = 0; i <= last - first; i++) {
    const segment = order === 'asc' ? first + i : last - i;
    const gaps = states.get(segment)?.missing ?? [blocksOf(segment)];
    yield* order === 'asc' ? gaps : gaps.toReversed();
  }
}

/** SQL condition: rows of the window that may be part of a result. */
export const inWindow = ({ ignored }: Window): string =>
  `number BETWEEN {first:UInt32} AND {last:UInt32}${
    ignored.length === 0 ? '' : ' AND write NOT IN {ignored:Array(UInt64)}'
  }`;

/** Parameters of the condition `inWindow`. */
export const windowParameters = ({ searchRange, ignored }: Window): Parameters => ({
  first: searchRange.fromBlock,
  last: searchRange.toBlock,
  ignored,
});

/** The matching traces of one page of results, in query order. */
export interface SearchResult {
  readonly found: readonly FoundTrace[];
  /**
   * Position of the last row that was examined. The next page starts after it. Undefined if all rows were examined.
   */
  readonly last: TracePlace | undefined;
  readonly prints: Fingerprints;
}

export interface FoundTrace extends TracePosition {
  readonly attributes: number;
}
