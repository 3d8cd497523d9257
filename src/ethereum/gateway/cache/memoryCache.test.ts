import { expect, it } from 'vitest';
import { MemoryCache } from './memoryCache.ts';

const ANSWER = Buffer.alloc(100);

/** Returns the size of one entry with a key of one character. */
function sizeOfEntry(): number {
  const cache = new MemoryCache(10_000);
  cache.put('a', ANSWER);
  return cache.bytes;
}

it('the memory cache counts the bytes of its entries, and not those of removed or replaced ones', () => {
  const cache = new MemoryCache(10_000);
  for (const key of ['a', 'b', 'a']) cache.put(key, ANSWER);
  expect([cache.size, cache.bytes]).toEqual([2, 2 * sizeOfEntry()]);
  cache.drop('a');
  cache.drop('a');
  expect([cache.size, cache.bytes]).toEqual([1, sizeOfEntry()]);
  cache.clear();
  expect([cache.size, cache.bytes]).toEqual([0, 0]);
});

it('the memory cache keeps as many entries as fit, and evicts the oldest entry that was not read', () => {
  const cache = new MemoryCache(2 * sizeOfEntry());
  cache.put('a', ANSWER);
  cache.put('b', ANSWER);
  expect(cache.size).toBe(2);
  cache.get('a');
  cache.put('c', ANSWER);
  expect(['a', 'b', 'c'].filter((key) => cache.get(key))).toEqual(['a', 'c']);
  cache.put('d', Buffer.alloc(3 * sizeOfEntry()));
  expect([cache.size, cache.get('d')]).toEqual([2, undefined]);
});
