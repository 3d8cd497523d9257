import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { chainRange, fetchNewest } from './blockRange.ts';

const INDEXED = 1_000;
const HEAD = 1_010;
const caller = { limits: DEFAULT_LIMITS };

/** Fake services: a poll finds a head one block above the last known one. */
function servicesOf({ indexed = INDEXED, head = HEAD } = {}) {
  const at = (number: number) => ({ latest: { number, hash: '0x', parentHash: '0x' } });
  const asked = { polls: 0, fetched: [] as [number, number][] };
  const indexer = {
    get lastHeads() {
      return at(head + Math.min(1, asked.polls));
    },
    async freshHeads() {
      asked.polls++;
      return at(head + 1);
    },
    async ensure(from: number, to: number) {
      asked.fetched.push([from, to]);
    },
  };
  const services = { store: { head: () => ({ number: indexed }) }, indexer };
  return { asked, services: services as unknown as IndexServices }; // only these members are used
}

test.each([
  { to: 'the latest block', endBlock: undefined, toBlock: INDEXED, polls: 0 },
  {
    to: '99999999, which clients send for the latest block',
    endBlock: 99_999_999,
    toBlock: INDEXED,
    polls: 0,
  },
  { to: 'an indexed block', endBlock: 900, toBlock: 900, polls: 0 },
  { to: 'a block above the index', endBlock: HEAD, toBlock: HEAD, polls: 0 },
  { to: 'a block one above the known head', endBlock: HEAD + 1, toBlock: HEAD + 1, polls: 1 },
  { to: 'a block that does not exist yet', endBlock: HEAD + 2, toBlock: HEAD + 1, polls: 1 },
])('a range up to $to', async ({ endBlock, toBlock, polls }) => {
  const { services, asked } = servicesOf();
  expect(await chainRange(services, { startBlock: 0, endBlock })).toEqual({ fromBlock: 1, toBlock });
  expect(asked.polls).toBe(polls);
});

test('a range far above the head is empty, and no node is polled', async () => {
  const { services, asked } = servicesOf();
  const { fromBlock, toBlock } = await chainRange(services, { startBlock: 99_999_999, endBlock: 99_999_999 });
  expect(fromBlock).toBeGreaterThan(toBlock);
  expect(asked.polls).toBe(0);
});

test('a range that starts above the index ends at the head of the chain', async () => {
  const { services } = servicesOf();
  for (const endBlock of [undefined, 99_999_999]) {
    const range = await chainRange(services, { startBlock: INDEXED + 1, endBlock });
    expect(range).toEqual({ fromBlock: INDEXED + 1, toBlock: HEAD });
  }
});

test('more blocks above the index are fetched for a client with a higher limit', async () => {
  const { services, asked } = servicesOf({ head: INDEXED + 2_000 });
  const range = { fromBlock: 1, toBlock: INDEXED + 801 };
  await fetchNewest(services, range, { limits: { ...DEFAULT_LIMITS, traceFilterBlocks: 801 } });
  expect(asked.fetched).toEqual([[INDEXED + 1, INDEXED + 801]]);
});

test('blocks above the index are fetched, up to 800 of them', async () => {
  const { services, asked } = servicesOf({ head: INDEXED + 2_000 });
  await fetchNewest(services, { fromBlock: 1, toBlock: INDEXED }, caller);
  await fetchNewest(services, { fromBlock: 1, toBlock: INDEXED + 801 }, caller);
  await fetchNewest(services, { fromBlock: INDEXED + 801, toBlock: INDEXED + 801 }, caller);
  expect(asked.fetched).toEqual([]);
  await fetchNewest(services, { fromBlock: 1, toBlock: INDEXED + 800 }, caller);
  await fetchNewest(services, { fromBlock: INDEXED + 7, toBlock: INDEXED + 9 }, caller);
  expect(asked.fetched).toEqual([
    [INDEXED + 1, INDEXED + 800],
    [INDEXED + 7, INDEXED + 9],
  ]);
});
