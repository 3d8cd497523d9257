import { describe, expect, it } from 'vitest';
import { WorkBudget } from '../history/reader.ts';
import { listOf, PAGE_POSITIONS, type PostingList } from './list.ts';
import { PairIntersections } from './pairIntersections.ts';
import { type Selected, selectFromBothSides, selectFromEitherSide, selectFromSide } from './select.ts';

let id = 0;
const list = (...positions: number[]): PostingList => listOf(++id, Uint32Array.from(positions));
const pairs = new PairIntersections(1_000_000, () => ++id);
const pairOf = (from: PostingList, to: PostingList): PostingList => pairs.of(from, to, new WorkBudget());

const ALL = { start: 0, end: 2 ** 32 - 1, after: 0, count: 1000 };
type Selection = Partial<typeof ALL>;

/** Runs a search that yields as often as it can, and returns the selected and skipped positions. */
function found(
  search: (selection: typeof ALL & { work: WorkBudget }) => Generator<undefined, Selected>,
  selection: Selection,
) {
  const work = new WorkBudget(1);
  const steps = search({ ...ALL, ...selection, work });
  let step = steps.next();
  while (!step.done) {
    work.reset(1);
    step = steps.next();
  }
  const { positions, skipped } = step.value;
  const selected =
    'list' in positions
      ? Array.from({ length: positions.end - positions.first }, (_, i) =>
          positions.list.at(positions.first + i),
        )
      : positions.positions;
  if (!('list' in positions))
    for (const [i, position] of positions.positions.entries())
      expect(positions.lists[positions.listIndexes[i] ?? -1]?.at(positions.indexes[i] ?? -1)).toBe(position);
  return [selected, skipped];
}

const inSide = (lists: readonly PostingList[], selection: Selection = {}) =>
  found((all) => selectFromSide(lists, all), selection);

describe('matches of one address', () => {
  const only = [list(10, 20, 30, 40, 50)];

  it('are those of the range', () => {
    expect(inSide(only, { start: 20, end: 50 })).toEqual([[20, 30, 40], 0]);
    expect(inSide(only, { start: 21, end: 51 })).toEqual([[30, 40, 50], 0]);
    expect(inSide(only, { start: 51 })).toEqual([[], 0]);
  });

  it('after skipped ones are counted from the start of the range, not of the segment', () => {
    expect(inSide(only, { start: 30, after: 1 })).toEqual([[40, 50], 1]);
    expect(inSide(only, { start: 30, after: 2, count: 5 })).toEqual([[50], 2]);
    expect(inSide(only, { after: 1, count: 2 })).toEqual([[20, 30], 1]);
  });

  it('are all skipped if a segment has no more than `after`, so that the next segment skips only the others', () => {
    // Four matches of the segment are before the range, so their number must not be added to those in the range.
    expect(inSide(only, { start: 50, after: 3 })).toEqual([[], 1]);
    expect(inSide(only, { start: 30, after: 3 })).toEqual([[], 3]);
    expect(inSide(only, { start: 30, after: 4 })).toEqual([[], 3]);
  });
});

describe('matches of several addresses on one side', () => {
  const lists = [list(10, 40, 70), list(20, 50), list(), list(30, 60)];

  it('are merged in ascending order', () => {
    expect(inSide(lists)).toEqual([[10, 20, 30, 40, 50, 60, 70], 0]);
    expect(inSide(lists, { start: 20, end: 60, count: 3 })).toEqual([[20, 30, 40], 0]);
  });

  it('are skipped in that order, within the range', () => {
    for (let after = 0; after < 4; after++)
      expect(inSide(lists, { start: 20, end: 60, after })).toEqual([[20, 30, 40, 50].slice(after), after]);
    for (const after of [4, 5, 100]) expect(inSide(lists, { start: 20, end: 60, after })).toEqual([[], 4]);
  });

  it('are none without lists', () => {
    expect(inSide([], { after: 3 })).toEqual([[], 0]);
  });
});

describe('matches of senders and recipients', () => {
  const from = [list(10, 20, 30), list(40, 50, 60)];
  const to = [list(20, 40), list(30, 60, 70)];
  const both = (selection: Selection = {}, sides = { from, to, pairOf }) =>
    found((all) => selectFromBothSides(sides, all), selection);
  const either = (selection: Selection = {}, sides = { from, to, pairOf }) =>
    found((all) => selectFromEitherSide(sides, all), selection);

  it('in both sides are the common positions', () => {
    expect(both()).toEqual([[20, 30, 40, 60], 0]);
    expect(both({ start: 30, end: 60, after: 1 })).toEqual([[40], 1]);
    expect(both({ after: 4 })).toEqual([[], 4]);
  });

  it('in either side are all positions, each once', () => {
    const all = [10, 20, 30, 40, 50, 60, 70];
    expect(either()).toEqual([all, 0]);
    for (let after = 1; after <= 6; after++) expect(either({ after })).toEqual([all.slice(after), after]);
    expect(either({ after: 2, count: 2 })).toEqual([[30, 40], 2]);
    expect(either({ start: 20, end: 70, after: 2 })).toEqual([[40, 50, 60], 2]);
  });

  it('are the same if there are too many pairs to intersect one by one', () => {
    const positions = Array.from({ length: 2 * PAGE_POSITIONS }, (_, i) => 3 * i);
    const split = (numbers: readonly number[], lists: number): PostingList[] =>
      Array.from({ length: lists }, (_, n) => list(...numbers.filter((_, i) => i % lists === n)));
    const shifted = positions.map((position, i) => position + (i % 2));
    const sides = (lists: number) => ({ from: split(positions, lists), to: split(shifted, lists), pairOf });
    for (const selection of [{}, { after: 100, count: 7 }, { start: 50, end: 900, after: 11 }]) {
      const [few, many] = [sides(8), sides(9)];
      expect(both(selection, many)[0]).toEqual(both(selection, few)[0]);
      expect(either(selection, many)).toEqual(either(selection, few));
    }
    expect(both({}, sides(9))[0]).toEqual(positions.filter((_, i) => i % 2 === 0));
  });
});
