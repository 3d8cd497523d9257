import type { WorkLeft } from '../history/reader.ts';
import type { Positions, PostingList } from './list.ts';
import { MergeIterator } from './mergeIterator.ts';
import { IntersectionIterator, type PostingIterator, UnionIterator } from './postingIterator.ts';

/** What one segment is asked for: positions from `start` (inclusive) to `end` (exclusive). */
export interface SegmentSelection {
  readonly start: number;
  readonly end: number;
  readonly after: number;
  readonly count: number;
  /** Where it is over, the search leaves off. */
  readonly work: WorkLeft;
}

/** A search that leaves off where no work is left for this turn of the event loop, and goes on where it was when resumed. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** What searching a list takes, in positions that are walked in the same time. */
const SEARCH_WORK = 8;

export interface Selected {
  /** At most `count` positions in ascending order, out of several lists; or a part of one, where that is all there is to it. */
  readonly positions: Merged | PartOfList;
  /** How many matches were passed over: less than `after` where the segment has no more. */
  readonly skipped: number;
}

/** Positions of several lists in ascending order. */
export interface Merged {
  readonly lists: readonly PostingList[];
  readonly positions: readonly number[];
  /** For each position, the number of a list that it stands in, and its index there. */
  readonly listIndexes: readonly number[];
  readonly indexes: readonly number[];
}

const NOTHING: Merged = { lists: [], positions: [], listIndexes: [], indexes: [] };

/** The positions of a list from index `first` up to, not including, `end`. */
export interface PartOfList {
  readonly list: Positions;
  readonly first: number;
  readonly end: number;
}

/**
 * Selects from the lists of one side. A trace has one sender and one recipient, so the lists share no position and
 * the number of matches below any position is a sum of list indexes: skipping costs a few binary searches.
 */
export function* selectFromSide(lists: readonly PostingList[], selection: SegmentSelection): Steps<Selected> {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return selectFromList(only, selection);
  const { starts, ends } = yield* boundsOf(lists, selection);
  const total = sum(ends) - sum(starts);
  if (total <= selection.after) return { positions: NOTHING, skipped: total };

  const { indexes, skipped } = yield* skipByRank(lists, starts, selection);
  return yield* take(new MergeIterator({ lists, indexes, ends }), selection, skipped);
}

function selectFromList(list: PostingList, { start, end, after, count }: SegmentSelection): Selected {
  const first = list.lowerBound(start);
  const last = list.lowerBound(end, first);
  if (last - first <= after) return { positions: NOTHING, skipped: last - first };
  return {
    positions: { list, first: first + after, end: Math.min(first + after + count, last) },
    skipped: after,
  };
}

/** Where the positions between two begin and end in each list. */
function* boundsOf(
  lists: readonly PostingList[],
  { start, end, work }: Pick<SegmentSelection, 'start' | 'end' | 'work'>,
): Steps<{ starts: number[]; ends: number[] }> {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const list of lists) {
    if (work.isOver) yield;
    work.spend(2 * SEARCH_WORK);
    const first = list.lowerBound(start);
    starts.push(first);
    ends.push(list.lowerBound(end, first));
  }
  return { starts, ends };
}

/** More pairs of addresses than this are not looked at one by one: both sides are walked. */
const MAX_PAIRS = 64;

/** The lists of senders and of recipients. */
interface BothSides {
  readonly from: readonly PostingList[];
  readonly to: readonly PostingList[];
  /** What a sender's and a recipient's list have in common. */
  readonly pairOf: (from: PostingList, to: PostingList) => PostingList;
}

/**
 * Selects what both sides match. Where there are few pairs of a sender and a recipient, each pair is a list of its own, and
 * no two of them share a position.
 */
export function* selectFromBothSides(sides: BothSides, selection: SegmentSelection): Steps<Selected> {
  const pairs = yield* pairsOf(sides, selection.work);
  if (pairs !== undefined) return yield* selectFromSide(pairs, selection);
  const { from, to } = sides;
  const froms = yield* merged(from, selection);
  const iterator = new IntersectionIterator(froms, yield* merged(to, selection, from.length));
  return yield* take(iterator, selection, 0);
}

/** Selects what either side matches. */
export function* selectFromEitherSide(sides: BothSides, selection: SegmentSelection): Steps<Selected> {
  const { from, to } = sides;
  const { start, skipped } = yield* skipInUnion(sides, selection);
  const part = { start, end: selection.end, work: selection.work };
  const froms = yield* merged(from, part);
  const iterator = new UnionIterator(froms, yield* merged(to, part, from.length));
  return yield* take(iterator, selection, skipped);
}

/** The lists of one side between two positions; the first of them has the number `firstListIndex`. */
function* merged(
  lists: readonly PostingList[],
  part: Pick<SegmentSelection, 'start' | 'end' | 'work'>,
  firstListIndex = 0,
): Steps<MergeIterator> {
  const { starts, ends } = yield* boundsOf(lists, part);
  return new MergeIterator({ lists, indexes: starts, ends, firstListIndex });
}

/** Undefined where there are too many. */
function* pairsOf({ from, to, pairOf }: BothSides, work: WorkLeft): Steps<PostingList[] | undefined> {
  if (from.length * to.length > MAX_PAIRS) return undefined;
  const pairs: PostingList[] = [];
  for (const a of from)
    for (const b of to) {
      if (work.isOver) yield;
      const pair = pairOf(a, b);
      if (pair.length > 0) pairs.push(pair);
    }
  return pairs;
}

/** The highest position that has at most `after` matches of a union before it, by counting; else the start. */
function* skipInUnion(
  sides: BothSides,
  selection: SegmentSelection,
): Steps<{ start: number; skipped: number }> {
  const fromStart = { start: selection.start, skipped: 0 };
  const pairs = selection.after === 0 ? undefined : yield* pairsOf(sides, selection.work);
  if (pairs === undefined) return fromStart;
  // What is in both sides is counted twice.
  const once = [...sides.from, ...sides.to];
  const below = (position: number): number =>
    sum(once.map((list) => list.lowerBound(position))) - sum(pairs.map((list) => list.lowerBound(position)));
  return yield* lastNotAfter(selection, SEARCH_WORK * (once.length + pairs.length), below);
}

function* take(
  iterator: PostingIterator,
  selection: SegmentSelection,
  alreadySkipped: number,
): Steps<Selected> {
  const { work } = selection;
  let skipped = alreadySkipped;
  let moved = 0;
  const positions: number[] = [];
  const listIndexes: number[] = [];
  const indexes: number[] = [];
  while (positions.length < selection.count) {
    work.spend(iterator.moved - moved);
    moved = iterator.moved;
    if (work.isOver) yield;
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

/** Moves every list to the highest position that has at most `after` matches below it. */
function* skipByRank(
  lists: readonly PostingList[],
  starts: readonly number[],
  selection: SegmentSelection,
): Steps<{ indexes: number[]; skipped: number }> {
  if (selection.after === 0) return { indexes: [...starts], skipped: 0 };
  const indexesAt = (position: number): number[] =>
    lists.map((list, i) => list.lowerBound(position, starts[i]));
  const { start, skipped } = yield* lastNotAfter(selection, SEARCH_WORK * lists.length, (position) =>
    sum(indexesAt(position)),
  );
  return { indexes: indexesAt(start), skipped };
}

/**
 * The highest place of a selection with at most `after` matches between its start and it; `below` counts from anywhere, and
 * takes so much work each time.
 */
export function* lastNotAfter(
  { start, end, after, work }: Omit<SegmentSelection, 'count'>,
  workOfBelow: number,
  below: (position: number) => number,
): Steps<{ start: number; skipped: number }> {
  const before = below(start);
  let low = start;
  let high = end;
  while (low + 1 < high) {
    if (work.isOver) yield;
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
