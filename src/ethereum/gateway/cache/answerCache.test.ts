import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AnswerCache } from './answerCache.ts';
import type { AnswerStore } from './answerStore.ts';

const HOUR_MS = 3_600_000;
const KEY = 'eth_getBalance["0x1","0x2"]';
const ANSWER = Buffer.from('"0x0"');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function cacheWithStore() {
  const stored = new Map<string, Uint8Array>();
  const store: AnswerStore = {
    get: (key) => stored.get(key),
    put: (key, answer) => stored.set(key, answer),
    anchor: () => ({ chainId: '1', number: 2, hash: '0xa' }),
    setAnchor: () => undefined,
    clear: async () => stored.clear(),
  };
  const cache = new AnswerCache({ network: 'mainnet', store, memoryBytes: 1_000_000 });
  await cache.open('1', async () => '0xa');
  return { cache, stored };
}

it('the result of a single node is cached for an hour, in memory only', async () => {
  const { cache, stored } = await cacheWithStore();
  cache.putUnconfirmed(KEY, ANSWER, 'node-1');
  vi.advanceTimersByTime(HOUR_MS - 1);
  expect(cache.getFinal(KEY)).toEqual(ANSWER);
  vi.advanceTimersByTime(1);
  expect(cache.getFinal(KEY)).toBeUndefined();
  expect(stored.size).toBe(0);
});

it('a result that two nodes returned does not expire and is stored', async () => {
  const { cache, stored } = await cacheWithStore();
  cache.putFinal(KEY, ANSWER);
  vi.advanceTimersByTime(2 * HOUR_MS);
  expect(cache.getFinal(KEY)).toEqual(ANSWER);
  expect(stored.size).toBe(1);
});

it('a large result is on disk only, so that it evicts no other result', async () => {
  const { cache, stored } = await cacheWithStore();
  const large = Buffer.alloc(2 * 1024 * 1024, '0');
  cache.putFinal('small', ANSWER);
  cache.putFinal(KEY, large);
  expect(cache.getFinal(KEY)).toEqual(large);
  stored.clear();
  expect(cache.getFinal(KEY)).toBeUndefined();
  expect(cache.getFinal('small')).toEqual(ANSWER);
});
