import type { WorkBudget } from '../history/reader.ts';
import type { Positions, PostingList } from './list.ts';
import { MergeIterator } from './mergeIterator.ts';
import { IntersectionIterator, type PostingIterator, UnionIterator } from './postingIterator.ts';

/** What to select in one segment: matches at positions from `start` (inclusive) to `end` (exclusive). */
export interface SegmentSelection {
  readonly start: number;
  readonly end: number;
  readonly after: number;
  readonly count: number;
  /** When this budget is used up, the search yields. */
  readonly work: WorkBudget;
}

/** A search that yields when the work budget of an event loop iteration is used up, and that can be resumed. */
export type Resumable<T> = Generator<undefined, T, undefined>;

/** Cost of a binary search in a list. The unit is the cost of reading one position. */
const SEARCH_WORK = 8;

export interface Selected {
  /** The selected matches, at most `count`: positions merged from several lists, or a part of a single list. */
  readonly positions: Merged | PartOfList;
  /** Number of skipped matches; less than `after` if the segment has fewer matches. */
  readonly skipped: number;
}

/** Positions of several lists in ascending order. */
export interface Merged {
  readonly lists: readonly PostingList[];
  readonly positions: readonly number[];
  /** For each position, the index in `lists` of a list that contains the position. */
  readonly listIndexes: readonly number[];
  /** For each position, its index in that list. */
  readonly indexes: readonly number[];
}

const NO_MATCHES: Merged = { lists: [], positions: [], listIndexes: [], indexes: [] };

/** The positions of one list with the indexes from `first` (inclusive) to `end` (exclusive). */
export interface PartOfList {
  readonly list: Positions;
  readonly first: number;
  readonly end: number;
}

/**
 * Selects matches from lists of senders only, or of recipients only. Such lists have no common positions, because a
 * trace has one sender and one recipient. The number of matches before a position is therefore the sum, over all
 * lists, of the number of positions below it.
 */
export function* selectFromSide(
  lists: readonly PostingList[],
  selection: SegmentSelection,
): Resumable<Selected> {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return selectFromList(only, selection);
  const { starts, ends } = yield* boundsOf(lists, selection);
  const total = sum(ends) - sum(starts);
  if (total <= selection.after) return { positions: NO_MATCHES, skipped: total };

  const { indexes, skipped } = yield* skipByRank(lists, starts, selection);
  return yield* take(new MergeIterator({ lists, indexes, ends }), selection, skipped);
}

function selectFromList(list: PostingList, { start, end, after, count }: SegmentSelection): Selected {
  const first = list.lowerBound(start);
  const last = list.lowerBound(end, first);
  if (last - first <= after) return { positions: NO_MATCHES, skipped: last - first };
  return {
    positions: { list, first: first + after, end: Math.min(first + after + count, last) },
    skipped: after,
  };
}

/** Returns, for each list, the range of indexes of its positions from `start` (inclusive) to `end` (exclusive). */
function* boundsOf(
  lists: readonly PostingList[],
  { start, end, work }: Pick<SegmentSelection, 'start' | 'end' | 'work'>,
): Resumable<{ starts: number[]; ends: number[] }> {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const list of lists) {
    if (work.isExhausted) yield;
    work.spend(2 * SEARCH_WORK);
    const first = list.lowerBound(start);
    starts.push(first);
    ends.push(list.lowerBound(end, first));
  }
  return { starts, ends };
}

/** Maximum number of pairs of a sender and a recipient to intersect one by one. For more, all lists are merged. */
const MAX_PAIRS = 64;

interface BothSides {
  readonly from: readonly PostingList[];
  readonly to: readonly PostingList[];
  readonly pairOf: (from: PostingList, to: PostingList) => PostingList;
}

/**
 * Selects traces whose sender and recipient both match. If there are few pairs of a sender and a recipient, selects
 * from their intersections, which have no common positions.
 */
export function* selectFromBothSides(sides: BothSides, selection: SegmentSelection): Resumable<Selected> {
  const pairs = yield* pairsOf(sides, selection.work);
  if (pairs !== undefined) return yield* selectFromSide(pairs, selection);
  const { from, to } = sides;
  const froms = yield* merged(from, selection);
  const iterator = new IntersectionIterator(froms, yield* merged(to, selection, from.length));
  return yield* take(iterator, selection, 0);
}

/** Selects traces whose sender or recipient matches. */
export function* selectFromEitherSide(sides: BothSides, selection: SegmentSelection): Resumable<Selected> {
  const { from, to } = sides;
  const { start, skipped } = yield* skipInUnion(sides, selection);
  const part = { start, end: selection.end, work: selection.work };
  const froms = yield* merged(from, part);
  const iterator = new UnionIterator(froms, yield* merged(to, part, from.length));
  return yield* take(iterator, selection, skipped);
}

/** Returns a merge of the lists' positions from `start` to `end` (exclusive). The first list is `firstListIndex`. */
function* merged(
  lists: readonly PostingList[],
  part: Pick<SegmentSelection, 'start' | 'end' | 'work'>,
  firstListIndex = 0,
): Resumable<MergeIterator> {
  const { starts, ends } = yield* boundsOf(lists, part);
  return new MergeIterator({ lists, indexes: starts, ends, firstListIndex });
}

/**
 * Returns the non-empty intersections of each sender's with each recipient's list; undefined if there are more than
 * {@link MAX_PAIRS} pairs.
 */
function* pairsOf({ from, to, pairOf }: BothSides, work: WorkBudget): Resumable<PostingList[] | undefined> {
  if (from.length * to.length > MAX_PAIRS) return undefined;
  const pairs: PostingList[] = [];
  for (const a of from)
    for (const b of to) {
      if (work.isExhausted) yield;
      const pair = pairOf(a, b);
      if (pair.length > 0) pairs.push(pair);
    }
  return pairs;
}

/**
 * Returns the highest position with at most `after` matches before it. If there are too many pairs to count matches,
 * returns the start of the selection, and nothing is skipped.
 */
function* skipInUnion(
  sides: BothSides,
  selection: SegmentSelection,
): Resumable<{ start: number; skipped: number }> {
  const fromStart = { start: selection.start, skipped: 0 };
  const pairs = selection.after === 0 ? undefined : yield* pairsOf(sides, selection.work);
  if (pairs === undefined) return fromStart;
  // A position in both a sender's and a recipient's list would be counted twice, so intersections are subtracted.
  const once = [...sides.from, ...sides.to];
  const below = (position: number): number =>
    sum(once.map((list) => list.lowerBound(position))) - sum(pairs.map((list) => list.lowerBound(position)));
  return yield* seekRank(selection, SEARCH_WORK * (once.length + pairs.length), below);
}

function* take(
  iterator: PostingIterator,
  selection: SegmentSelection,
  alreadySkipped: number,
): Resumable<Selected> {
  const { work } = selection;
  let skipped = alreadySkipped;
  let moved = 0;
  const positions: number[] = [];
  const listIndexes: number[] = [];
  const indexes: number[] = [];
  while (positions.length < selection.count) {
    work.spend(iterator.moved - moved);
    moved = iterator.moved;
    if (work.isExhausted) yield;
    if (!iterator.approach()) continue;
    const position = iterator.peek();
    if (position === undefined) break;
    if (skipped < selection.after) skipped++;
    else {
      positions.push(position);
      listIndexes.push(iterator.listIndex);
      indexes.push(iterator.index);
    }
    iterator.advance();
  }
  return { positions: { lists: iterator.lists, positions, listIndexes, indexes }, skipped };
}

/** Returns, for each list, the index of its first position after the skipped matches, which are not read. */
function* skipByRank(
  lists: readonly PostingList[],
  starts: readonly number[],
  selection: SegmentSelection,
): Resumable<{ indexes: number[]; skipped: number }> {
  if (selection.after === 0) return { indexes: [...starts], skipped: 0 };
  const indexesAt = (position: number): number[] =>
    lists.map((list, i) => list.lowerBound(position, starts[i]));
  const { start, skipped } = yield* seekRank(selection, SEARCH_WORK * lists.length, (position) =>
    sum(indexesAt(position)),
  );
  return { indexes: indexesAt(start), skipped };
}

/**
 * Returns the highest position with at most `after` matches between `start` and it. `below` returns the number of
 * matches below a position; each call costs `workOfBelow`.
 */
export function* seekRank(
  { start, end, after, work }: Omit<SegmentSelection, 'count'>,
  workOfBelow: number,
  below: (position: number) => number,
): Resumable<{ start: number; skipped: number }> {
  const before = below(start);
  let low = start;
  let high = end;
  while (low + 1 < high) {
    if (work.isExhausted) yield;
    work.spend(workOfBelow);
    const middle = Math.floor((low + high) / 2);
    if (below(middle) - before <= after) low = middle;
    else high = middle;
  }
  return { start: low, skipped: below(low) - before };
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
}
