import { assertNotTooMany, searchLimit, type TraceFilter } from './filter.ts';
import { COST, type WorkBudget } from './history/reader.ts';
import { termOf } from './indexBlock.ts';
import { BLOCKS_PER_SEGMENT, END_OF_SEGMENT, firstBlockOf, positionOf, segmentOf } from './position.ts';
import { END_OF_LIST_IDS, type Positions, type PostingList } from './postings/list.ts';
import {
  type Merged,
  type PartOfList,
  type Resumable,
  type SegmentSelection,
  type Selected,
  seekRank,
  selectFromBothSides,
  selectFromEitherSide,
  selectFromSide,
} from './postings/select.ts';
import type { PostingTerm, Side } from './store.ts';
import type { Address } from './trace.ts';

/** Read access to the index for trace_filter. The storage engine implements it; all reads see one snapshot. */
export interface IndexReader {
  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined;
  /** Returns the positions that a sender's and a recipient's list of one segment have in common. */
  pair(from: PostingList, to: PostingList, work: WorkBudget): PostingList;
  traceCounts(segment: number): TraceCounts;
}

/** Numbers of traces in the blocks of one segment. */
export interface TraceCounts {
  /** Returns the total number of traces in the first `offset` blocks of the segment. */
  before(offset: number): number;
}

/** Receives the positions of matching traces in order. */
export interface MatchVisitor {
  /** Called with traces merged from several lists of one segment. */
  merged(segment: number, merged: Merged): void;
  /** Called with consecutive entries of one posting list. */
  run(segment: number, part: PartOfList): void;
}

/** Positions of the matches in one segment: merged from several lists, or consecutive entries of one list. */
export interface SegmentMatches {
  readonly segment: number;
  readonly positions: Merged | PartOfList;
}

/**
 * Finds the positions of the traces that match a filter, in order. The work is proportional to the number of matches
 * returned and of addresses, times the logarithm of the size of the range. If the filter has many senders and many
 * recipients, the search also reads the positions (four bytes each) of the matches that `after` skips. No traces are
 * read. Throws TooManyTracesError if the filter wants all matches and there are more than `count`.
 *
 * Yields when the work budget of a time slice is used up. Until the search is resumed, blocks may be appended to its
 * segments, but none may be removed, or added before the last one of such a segment.
 */
export function* findMatches(
  reader: IndexReader,
  filter: TraceFilter,
  work: WorkBudget,
): Resumable<readonly SegmentMatches[]> {
  const matches: SegmentMatches[] = [];
  let after = filter.after;
  const searched = searchLimit(filter);
  let count = searched;
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
  assertNotTooMany(filter, searched - count);
  return matches;
}

/** Passes the matches of each segment to a visitor. */
export function visitMatches(matches: readonly SegmentMatches[], visitor: MatchVisitor): void {
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
  { range, work }: { readonly range: Range; readonly work: WorkBudget },
): Resumable<Selected> {
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
  work: WorkBudget,
): Resumable<PostingList[]> {
  const lists: PostingList[] = [];
  for (const address of addresses.length > 1 ? new Set(addresses) : addresses) {
    if (work.isExhausted) yield;
    work.spend(COST.list);
    const list = listOf(termOf(address));
    if (list !== undefined) lists.push(list);
  }
  return lists;
}

/** Finds the traces of a range for a filter without addresses. Uses only the numbers of traces of the blocks. */
function* findAll(
  counts: TraceCounts,
  range: Range & { readonly work: WorkBudget },
  matches: SegmentMatches[],
): Resumable<{ found: number; skipped: number }> {
  const firstOffset = range.fromBlock % BLOCKS_PER_SEGMENT;
  const endOffset = firstOffset + range.toBlock - range.fromBlock + 1;
  const start = counts.before(firstOffset);
  const total = counts.before(endOffset) - start;
  if (total <= range.after) return { found: 0, skipped: total };

  const selection = { start: firstOffset, end: endOffset, after: range.after, work: range.work };
  const first = yield* seekRank(selection, 1, (offset) => counts.before(offset));
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

/** Returns the positions of all traces of a block as a list. */
export const tracesOfBlock = (blockNumber: number, traceCount: number): Positions => ({
  id: END_OF_LIST_IDS + blockNumber,
  length: traceCount,
  at: (traceIndex) => positionOf(blockNumber, traceIndex),
});
