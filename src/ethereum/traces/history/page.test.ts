import { expect, test } from 'vitest';
import { positionOf } from '../position.ts';
import { listOf } from '../postings/list.ts';
import type { StoredBlock } from '../store.ts';
import type { Address, Hash } from '../trace.ts';
import { readHistory } from './page.ts';
import { BlockReplacedError, type HistoryPosition, type HistoryQuery } from './query.ts';
import type { HistoryReader } from './reader.ts';

const HASH = `0x${'1'.repeat(64)}` as Hash;
const OTHER_HASH = `0x${'2'.repeat(64)}` as Hash;
const SEGMENTS = 5;
const PER_SEGMENT = 3;

/** An index in which finding the segments uses up the whole work budget of a page. */
const reader: HistoryReader = {
  block: () => undefined,
  firstBlock: () => 0,
  postings: (segment, side) =>
    side === 'to'
      ? undefined
      : listOf(
          segment,
          Uint32Array.from({ length: PER_SEGMENT }, (_, i) => positionOf(segment * 1024 + 7 * i, i)),
        ),
  allTraces: () => undefined,
  attributes: () => [],
  value: () => 0n,
  chunk: () => {
    throw new Error('no frame is read');
  },
  *segmentsWith({ terms, first, last, order }, work) {
    work.spend(1e9);
    const lists = terms === 'all' ? [] : terms;
    const segments = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    for (const segment of order === 'asc' ? segments : segments.reverse())
      yield { segment, from: lists, to: lists };
  },
  *countsOf() {},
  missing: () => ({ ranges: [] }),
};

test.each(['asc', 'desc'] as const)(
  'every page makes progress, even if finding its first trace uses up the work budget: %s',
  (order) => {
    const query: HistoryQuery = {
      addresses: [`0x${'1'.repeat(40)}` as Address],
      direction: 'either',
      fromBlock: 0,
      toBlock: SEGMENTS * 1024 - 1,
      order,
      filter: {},
      limit: 100,
    };
    const found: number[] = [];
    let behind: HistoryPosition | undefined;
    for (let pages = 0; pages < 100; pages++) {
      const { next } = readHistory(
        reader,
        { ...query, ...(behind && { cursor: behind }) },
        (segment, positions) => {
          found.push(...positions.map((position) => segment * 2 ** 32 + position));
          return positions.length;
        },
      );
      if (next === undefined) break;
      expect(next).not.toEqual(behind);
      behind = next;
    }
    expect(found).toHaveLength(SEGMENTS * PER_SEGMENT);
    expect(found).toEqual([...new Set(found)].sort((a, b) => (order === 'asc' ? a - b : b - a)));
  },
);

test('a cursor whose block was replaced is rejected, and one whose block still exists is not', () => {
  const blocks: Partial<HistoryReader> = { block: (number) => ({ number, hash: HASH }) as StoredBlock };
  const query: HistoryQuery = {
    addresses: [],
    direction: 'either',
    fromBlock: 0,
    toBlock: 9,
    order: 'asc',
    filter: {},
    limit: 1,
  };
  const pageAfter = (blockHash: Hash) =>
    readHistory(
      { ...reader, ...blocks },
      { ...query, cursor: { blockNumber: 5, traceIndex: 0, blockHash } },
      () => 0,
    );
  expect(() => pageAfter(HASH)).not.toThrow();
  expect(() => pageAfter(OTHER_HASH)).toThrow(BlockReplacedError);
});

test('a query without a first block covers the index from its lowest block, or only its last block', () => {
  const query: HistoryQuery = {
    addresses: [],
    direction: 'either',
    toBlock: 9,
    order: 'asc',
    filter: {},
    limit: 1,
  };
  const rangeWith = (lowest: number | undefined) =>
    readHistory({ ...reader, firstBlock: () => lowest }, query, () => 0).range;
  expect(rangeWith(4)).toEqual({ fromBlock: 4, toBlock: 9 });
  expect(rangeWith(undefined)).toEqual({ fromBlock: 9, toBlock: 9 });
  expect(rangeWith(20)).toEqual({ fromBlock: 9, toBlock: 9 });
});
