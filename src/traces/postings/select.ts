import type { FilterMode } from '../filter.ts';
import type { PostingList } from './list.ts';
import { Merge } from './merge.ts';

/** What one segment is asked for: positions from `start` (inclusive) to `end` (exclusive). */
export interface SegmentSelection {
  readonly start: number;
  readonly end: number;
  readonly after: number;
  readonly count: number;
}

export interface Selected {
  /** Positions in ascending order, at most `count`; or a run of one list, where that is all there is to it. */
  readonly positions: readonly number[] | ListRun;
  /** How many matches were passed over: less than `after` where the segment has no more. */
  readonly skipped: number;
}

/** The positions of a list from index `first` up to, not including, `end`. */
export interface ListRun {
  readonly list: PostingList;
  readonly first: number;
  readonly end: number;
}

/**
 * Selects from the lists of one side. A trace has one sender and one recipient, so the lists share no position and
 * the number of matches below any position is a sum of list indexes: skipping costs a few binary searches.
 */
export function selectFromSide(lists: readonly PostingList[], selection: SegmentSelection): Selected {
  const starts = lists.map((list) => list.lowerBound(selection.start));
  const ends = lists.map((list, i) => list.lowerBound(selection.end, starts[i]));
  const total = sum(ends) - sum(starts);
  if (total <= selection.after) return { positions: [], skipped: total };

  const [only] = lists;
  if (lists.length === 1 && only) {
    const first = (starts[0] ?? 0) + selection.after;
    const end = Math.min(first + selection.count, ends[0] ?? 0);
    return { positions: { list: only, first, end }, skipped: selection.after };
  }

  const { indexes, skipped } = skipByRank(lists, starts, selection);
  return take(new Merge(lists, indexes, ends), selection, skipped);
}

/** Selects what both sides, or either side, match. */
export function selectFromBothSides(
  from: readonly PostingList[],
  to: readonly PostingList[],
  mode: FilterMode,
  selection: SegmentSelection,
): Selected {
  const merged = (lists: readonly PostingList[]): Merge => {
    const starts = lists.map((list) => list.lowerBound(selection.start));
    return new Merge(
      lists,
      starts,
      lists.map((list, i) => list.lowerBound(selection.end, starts[i])),
    );
  };
  const sides =
    mode === 'union' ? new Union(merged(from), merged(to)) : new Intersection(merged(from), merged(to));
  return take(sides, selection, 0);
}

/** A walk over ascending positions; `undefined` at its end. */
interface Walk {
  next(): number | undefined;
}

function take(walk: Walk, selection: SegmentSelection, alreadySkipped: number): Selected {
  let skipped = alreadySkipped;
  const positions: number[] = [];
  while (positions.length < selection.count) {
    const position = walk.next();
    if (position === undefined) break;
    if (skipped < selection.after) skipped++;
    else positions.push(position);
  }
  return { positions, skipped };
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
  let low = selection.start;
  let high = selection.end;
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (sum(indexesAt(middle)) - sum(starts) <= selection.after) low = middle;
    else high = middle;
  }
  const indexes = indexesAt(low);
  return { indexes, skipped: sum(indexes) - sum(starts) };
}

class Union implements Walk {
  readonly #a: Merge;
  readonly #b: Merge;

  constructor(a: Merge, b: Merge) {
    this.#a = a;
    this.#b = b;
  }

  next(): number | undefined {
    const a = this.#a.peek();
    const b = this.#b.peek();
    if (a !== undefined && (b === undefined || a <= b)) {
      if (a === b) this.#b.next();
      return this.#a.next();
    }
    return this.#b.next();
  }
}

class Intersection implements Walk {
  readonly #a: Merge;
  readonly #b: Merge;

  constructor(a: Merge, b: Merge) {
    this.#a = a;
    this.#b = b;
  }

  next(): number | undefined {
    let a = this.#a.peek();
    let b = this.#b.peek();
    while (a !== undefined && b !== undefined && a !== b) {
      if (a < b) a = this.#a.seek(b);
      else b = this.#b.seek(a);
    }
    if (a === undefined || b === undefined) return undefined;
    this.#b.next();
    return this.#a.next();
  }
}

function sum(numbers: readonly number[]): number {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
}
