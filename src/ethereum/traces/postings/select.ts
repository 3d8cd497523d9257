import type { Positions, PostingList } from './list.ts';
import { MergeIterator } from './mergeIterator.ts';
import { IntersectionIterator, type PostingIterator, UnionIterator } from './postingIterator.ts';

/** What one segment is asked for: positions from `start` (inclusive) to `end` (exclusive). */
export interface SegmentSelection {
  readonly start: number;
  readonly end: number;
  readonly after: number;
  readonly count: number;
}

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
export function selectFromSide(lists: readonly PostingList[], selection: SegmentSelection): Selected {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return selectFromList(only, selection);
  const starts = lists.map((list) => list.lowerBound(selection.start));
  const ends = lists.map((list, i) => list.lowerBound(selection.end, starts[i]));
  const total = sum(ends) - sum(starts);
  if (total <= selection.after) return { positions: NOTHING, skipped: total };

  const { indexes, skipped } = skipByRank(lists, starts, selection);
  return take(new MergeIterator({ lists, indexes, ends }), selection, skipped);
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
export function selectFromBothSides(sides: BothSides, selection: SegmentSelection): Selected {
  const pairs = pairsOf(sides);
  if (pairs !== undefined) return selectFromSide(pairs, selection);
  const { from, to } = sides;
  const iterator = new IntersectionIterator(merged(from, selection), merged(to, selection, from.length));
  return take(iterator, selection, 0);
}

/** Selects what either side matches. */
export function selectFromEitherSide(sides: BothSides, selection: SegmentSelection): Selected {
  const { from, to } = sides;
  const { start, skipped } = skipInUnion(sides, selection);
  const part = { start, end: selection.end };
  const iterator = new UnionIterator(merged(from, part), merged(to, part, from.length));
  return take(iterator, selection, skipped);
}

/** The lists of one side between two positions; the first of them has the number `firstListIndex`. */
function merged(
  lists: readonly PostingList[],
  { start, end }: Pick<SegmentSelection, 'start' | 'end'>,
  firstListIndex = 0,
): MergeIterator {
  const starts = lists.map((list) => list.lowerBound(start));
  const ends = lists.map((list, i) => list.lowerBound(end, starts[i]));
  return new MergeIterator({ lists, indexes: starts, ends, firstListIndex });
}

/** Undefined where there are too many. */
function pairsOf({ from, to, pairOf }: BothSides): PostingList[] | undefined {
  if (from.length * to.length > MAX_PAIRS) return undefined;
  return from.flatMap((a) => to.map((b) => pairOf(a, b))).filter(({ length }) => length > 0);
}

/** The highest position that has at most `after` matches of a union before it, by counting; else the start. */
function skipInUnion(sides: BothSides, selection: SegmentSelection): { start: number; skipped: number } {
  const fromStart = { start: selection.start, skipped: 0 };
  const pairs = selection.after === 0 ? undefined : pairsOf(sides);
  if (pairs === undefined) return fromStart;
  // What is in both sides is counted twice.
  const once = [...sides.from, ...sides.to];
  const below = (position: number): number =>
    sum(once.map((list) => list.lowerBound(position))) - sum(pairs.map((list) => list.lowerBound(position)));
  return lastNotAfter(selection, below);
}

function take(iterator: PostingIterator, selection: SegmentSelection, alreadySkipped: number): Selected {
  let skipped = alreadySkipped;
  const positions: number[] = [];
  const listIndexes: number[] = [];
  const indexes: number[] = [];
  while (positions.length < selection.count) {
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
function skipByRank(
  lists: readonly PostingList[],
  starts: readonly number[],
  selection: SegmentSelection,
): { indexes: number[]; skipped: number } {
  if (selection.after === 0) return { indexes: [...starts], skipped: 0 };
  const indexesAt = (position: number): number[] =>
    lists.map((list, i) => list.lowerBound(position, starts[i]));
  const { start, skipped } = lastNotAfter(selection, (position) => sum(indexesAt(position)));
  return { indexes: indexesAt(start), skipped };
}

/** The highest place of a selection with at most `after` matches between its start and it; `below` counts from anywhere. */
export function lastNotAfter(
  selection: Pick<SegmentSelection, 'start' | 'end' | 'after'>,
  below: (position: number) => number,
): { start: number; skipped: number } {
  const before = below(selection.start);
  let low = selection.start;
  let high = selection.end;
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (below(middle) - before <= selection.after) low = middle;
    else high = middle;
  }
  return { start: low, skipped: below(low) - before };
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
}
