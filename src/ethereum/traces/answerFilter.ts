import type { TraceFilter } from './filter.ts';
import { COST, type WorkLeft } from './history/reader.ts';
import { termOf } from './indexBlock.ts';
import { BLOCKS_PER_SEGMENT, END_OF_SEGMENT, firstBlockOf, positionOf, segmentOf } from './position.ts';
import { END_OF_LIST_IDS, type Positions, type PostingList } from './postings/list.ts';
import {
  lastNotAfter,
  type Merged,
  type PartOfList,
  type SegmentSelection,
  type Selected,
  type Steps,
  selectFromBothSides,
  selectFromEitherSide,
  selectFromSide,
} from './postings/select.ts';
import type { PostingTerm, Side } from './store.ts';
import type { Address } from './trace.ts';

/** What the search for matching traces reads; an engine gives it over one unchanging state of the index. */
export interface IndexReader {
  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined;
  /** The traces that two lists of one segment have in common: those of a sender and of a recipient. */
  pair(from: PostingList, to: PostingList, work: WorkLeft): PostingList;
  /** How many traces each block of the segment has, by its offset in it. */
  traceCounts(segment: number): TraceCounts;
}

/** Traces per block of one segment. */
export interface TraceCounts {
  /** Traces of the segment's blocks before the block at `offset`. */
  before(offset: number): number;
}

/** Hears of matching traces, in order. */
export interface Visitor {
  /** Traces out of several lists of one segment. */
  merged(segment: number, merged: Merged): void;
  /** The traces that stand one after the other in one list of positions. */
  run(segment: number, part: PartOfList): void;
}

/** What a filter asks for of one segment: traces out of several lists, or some that stand together in one. */
export interface SegmentMatches {
  readonly segment: number;
  readonly positions: Merged | PartOfList;
}

/**
 * Finds, in order, the traces that a filter asks for. Work is proportional to the answer and to the number of
 * addresses, with a logarithm of what lies in the range; only where both lists are given, and are long, are the positions of
 * the matches before `after` walked, four bytes each. Traces that are not in the answer are never read.
 *
 * It leaves off where no work is left for this turn. In between blocks may be added behind the last, but none be replaced.
 */
export function* findMatches(
  reader: IndexReader,
  filter: TraceFilter,
  work: WorkLeft,
): Steps<readonly SegmentMatches[]> {
  const matches: SegmentMatches[] = [];
  let after = filter.after;
  let count = filter.count;
  for (
    let segment = segmentOf(filter.fromBlock);
    segment <= segmentOf(filter.toBlock) && count > 0;
    segment++
  ) {
    const first = firstBlockOf(segment);
    const fromBlock = Math.max(filter.fromBlock, first);
    const toBlock = Math.min(filter.toBlock, first + BLOCKS_PER_SEGMENT - 1);
    const range = { fromBlock, toBlock, after, count };
    if (isUnrestricted(filter)) {
      const { found, skipped } = yield* findAll(reader.traceCounts(segment), { ...range, work }, matches);
      after -= skipped;
      count -= found;
    } else {
      const { positions, skipped } = yield* selectInSegment(reader, filter, { range, work });
      matches.push({ segment, positions });
      after -= skipped;
      count -= 'list' in positions ? positions.end - positions.first : positions.positions.length;
    }
  }
  return matches;
}

/** Tells a visitor of what was found. */
export function visitMatches(matches: readonly SegmentMatches[], visitor: Visitor): void {
  for (const { segment, positions } of matches)
    if ('list' in positions) visitor.run(segment, positions);
    else visitor.merged(segment, positions);
}

interface Range {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly after: number;
  readonly count: number;
}

const isUnrestricted = (filter: TraceFilter): boolean =>
  filter.fromAddresses.length === 0 && filter.toAddresses.length === 0;

function* selectInSegment(
  reader: IndexReader,
  filter: TraceFilter,
  { range, work }: { readonly range: Range; readonly work: WorkLeft },
): Steps<Selected> {
  const segment = segmentOf(range.fromBlock);
  const listOf = (side: Side) => (term: PostingTerm) => reader.postings(segment, side, term);
  const from = yield* listsOf(filter.fromAddresses, listOf('from'), work);
  const to = yield* listsOf(filter.toAddresses, listOf('to'), work);
  const afterLast = (range.toBlock + 1) % BLOCKS_PER_SEGMENT;
  const selection: SegmentSelection = {
    start: positionOf(range.fromBlock, 0),
    end: afterLast === 0 ? END_OF_SEGMENT : positionOf(range.toBlock + 1, 0),
    after: range.after,
    count: range.count,
    work,
  };
  if (filter.toAddresses.length === 0) return yield* selectFromSide(from, selection);
  if (filter.fromAddresses.length === 0) return yield* selectFromSide(to, selection);
  const select = filter.mode === 'union' ? selectFromEitherSide : selectFromBothSides;
  return yield* select({ from, to, pairOf: (a, b) => reader.pair(a, b, work) }, selection);
}

function* listsOf(
  addresses: readonly Address[],
  listOf: (term: PostingTerm) => PostingList | undefined,
  work: WorkLeft,
): Steps<PostingList[]> {
  const lists: PostingList[] = [];
  for (const address of addresses.length > 1 ? new Set(addresses) : addresses) {
    if (work.isOver) yield;
    work.spend(COST.list);
    const list = listOf(termOf(address));
    if (list !== undefined) lists.push(list);
  }
  return lists;
}

/** Without addresses every trace matches: the first one is found by counting traces of whole blocks. */
function* findAll(
  counts: TraceCounts,
  range: Range & { readonly work: WorkLeft },
  matches: SegmentMatches[],
): Steps<{ found: number; skipped: number }> {
  const firstOffset = range.fromBlock % BLOCKS_PER_SEGMENT;
  const endOffset = firstOffset + range.toBlock - range.fromBlock + 1;
  const start = counts.before(firstOffset);
  const total = counts.before(endOffset) - start;
  if (total <= range.after) return { found: 0, skipped: total };

  const selection = { start: firstOffset, end: endOffset, after: range.after, work: range.work };
  const first = yield* lastNotAfter(selection, 1, (offset) => counts.before(offset));
  let offset = first.start;
  let traceIndex = range.after - first.skipped;
  let found = 0;
  for (; offset < endOffset && found < range.count; offset++, traceIndex = 0) {
    const traceCount = counts.before(offset + 1) - counts.before(offset);
    const blockNumber = range.fromBlock + offset - firstOffset;
    const end = Math.min(traceCount, traceIndex + range.count - found);
    if (traceIndex < end)
      matches.push({
        segment: segmentOf(blockNumber),
        positions: { list: tracesOfBlock(blockNumber, traceCount), first: traceIndex, end },
      });
    found += end - traceIndex;
  }
  return { found, skipped: range.after };
}

/** All traces of a block, as a list. */
export const tracesOfBlock = (blockNumber: number, traceCount: number): Positions => ({
  id: END_OF_LIST_IDS + blockNumber,
  length: traceCount,
  at: (traceIndex) => positionOf(blockNumber, traceIndex),
});
