import { afterEach, beforeEach, expect, test } from 'vitest';
import { Random } from '../../../test/support/random.ts';
import type { TraceFilter } from './filter.ts';
import { findMatches, type IndexReader, type SegmentMatches } from './findMatches.ts';
import { WorkBudget } from './history/reader.ts';
import { termOf } from './indexBlock.ts';
import { positionOf } from './position.ts';
import { listOf, PostingList } from './postings/list.ts';
import { MergeIterator } from './postings/mergeIterator.ts';
import { PairIntersections } from './postings/pairIntersections.ts';
import type { Address } from './trace.ts';

const BLOCKS = 800;
const TRACES_PER_BLOCK = 25;
/** The range covers two segments. */
const FIRST_BLOCK = 500;
const WORK = 500;
/** Maximum overrun of the budget per step: one indivisible piece of work, at most a search in all lists. */
const PIECES = 100;

const addressOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}` as Address; // 20 bytes in hex

/** Returns a random index in which `addresses` addresses send and receive everything. */
function readerOf(addresses: number): IndexReader {
  const random = new Random(addresses);
  const lists = new Map<string, number[]>();
  for (let number = FIRST_BLOCK; number < FIRST_BLOCK + BLOCKS; number++)
    for (let trace = 0; trace < TRACES_PER_BLOCK; trace++)
      for (const side of ['from', 'to']) {
        const key = `${number >>> 10} ${side} ${termOf(addressOf(random.below(addresses)))}`;
        const list = lists.get(key) ?? [];
        lists.set(key, list);
        list.push(positionOf(number, trace));
      }
  let id = 0;
  const opened = new Map([...lists].map(([key, list]) => [key, listOf(++id, Uint32Array.from(list))]));
  const pairs = new PairIntersections(1_000_000, () => ++id);
  return {
    postings(segment, side, term) {
      done++;
      return opened.get(`${segment} ${side} ${term}`);
    },
    pair: (from, to, work) => pairs.of(from, to, work),
    traceCounts: (segment) => ({
      before: (offset) => TRACES_PER_BLOCK * Math.max(0, offset - (segment === 0 ? FIRST_BLOCK : 0)),
    }),
  };
}

/** Number of operations, counted independently of the search's own accounting. */
let done = 0;
const original = {
  advance: MergeIterator.prototype.advance,
  seek: MergeIterator.prototype.seek,
  lowerBound: PostingList.prototype.lowerBound,
};

// Not spies, because spies record every call.
beforeEach(() => {
  MergeIterator.prototype.advance = function () {
    done++;
    original.advance.call(this);
  };
  MergeIterator.prototype.seek = function (position) {
    done++;
    original.seek.call(this, position);
  };
  PostingList.prototype.lowerBound = function (position, startIndex) {
    done++;
    return original.lowerBound.call(this, position, startIndex);
  };
});
afterEach(() => {
  Object.assign(MergeIterator.prototype, { advance: original.advance, seek: original.seek });
  Object.assign(PostingList.prototype, { lowerBound: original.lowerBound });
});

const all = (addresses: number): readonly Address[] =>
  Array.from({ length: addresses }, (_, i) => addressOf(i));
const NONE: readonly Address[] = [];

test.each<[string, number, Pick<TraceFilter, 'fromAddresses' | 'toAddresses' | 'mode'>]>([
  ['40 on each side', 40, { fromAddresses: all(40), toAddresses: all(40), mode: 'intersection' }],
  ['40 on either side', 40, { fromAddresses: all(40), toAddresses: all(40), mode: 'union' }],
  ['8 on each side', 8, { fromAddresses: all(8), toAddresses: all(8), mode: 'intersection' }],
  ['1,000 on one side', 1_000, { fromAddresses: all(1_000), toAddresses: NONE, mode: 'union' }],
  ['1,000 on each side', 1_000, { fromAddresses: all(1_000), toAddresses: all(1_000), mode: 'intersection' }],
])('a search for busy addresses, %s, yields between bounded steps', (_, addresses, lists) => {
  const reader = readerOf(addresses);
  for (const after of [0, BLOCKS * TRACES_PER_BLOCK - 300, BLOCKS * TRACES_PER_BLOCK]) {
    const filter = { ...lists, fromBlock: FIRST_BLOCK, toBlock: FIRST_BLOCK + BLOCKS - 1, after, count: 200 };
    const work = new WorkBudget(WORK);
    const search = findMatches(reader, filter, work);
    let most = 0;
    let parts = 0;
    let step: ReturnType<typeof search.next>;
    do {
      [done, parts] = [0, parts + 1];
      work.reset(WORK);
      step = search.next();
      most = Math.max(most, done);
    } while (!step.done);
    expect(most).toBeLessThanOrEqual(WORK + Math.max(PIECES, 3 * addresses));
    if (after > 0) expect(parts).toBeGreaterThan(3);
    const whole = findMatches(readerOf(addresses), filter, new WorkBudget(Number.POSITIVE_INFINITY)).next();
    expect(placesOf(step.value)).toEqual(placesOf(whole.value ?? []));
    expect(placesOf(step.value)).toHaveLength(Math.min(200, Math.max(0, BLOCKS * TRACES_PER_BLOCK - after)));
  }
});

const placesOf = (matches: readonly SegmentMatches[]): number[][] =>
  matches.flatMap(({ segment, positions }) =>
    'list' in positions
      ? Array.from({ length: positions.end - positions.first }, (_, i) => [
          segment,
          positions.list.at(positions.first + i),
        ])
      : positions.positions.map((position) => [segment, position]),
  );
