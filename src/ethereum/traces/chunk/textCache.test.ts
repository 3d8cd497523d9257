import { describe, expect, it } from 'vitest';
import { Random } from '../../../../test/support/random.ts';
import { JsonWriter } from './jsonWriter.ts';
import { NOT_FOUND, TextCache } from './textCache.ts';

const CAPACITY_BYTES = 64 * 1024;
const TEXT_BYTES = 400;
/** Text, number of texts (4 bytes) and end of the only text (4 bytes). */
const PIECE_BYTES = TEXT_BYTES + 8;
const HOLDS = Math.floor(CAPACITY_BYTES / PIECE_BYTES);

const textOf = (key: number): Buffer => Buffer.from(String(key).padStart(TEXT_BYTES, '.'));

/** Reads the entries of keys in order, as requests do, and checks each text found. Returns the hit rate. */
function ask(cache: TextCache, keys: Iterable<number>): number {
  const json = new JsonWriter();
  let [asked, found] = [0, 0];
  for (const key of keys) {
    json.reset();
    asked++;
    if (cache.writeAt(json, cache.find(key), 0, 1)) {
      found++;
      expect(json.copy().equals(textOf(key))).toBe(true);
    } else cache.offer(key, textOf(key), Uint32Array.of(TEXT_BYTES));
  }
  return found / asked;
}

function* rounds(keys: number, times: number): Iterable<number> {
  for (let time = 0; time < times; time++) for (let key = 0; key < keys; key++) yield key;
}

describe('TextCache', () => {
  it('stores every offered entry while it has free space', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    const keys = Math.floor(HOLDS * 0.9);
    ask(cache, rounds(keys, 1));
    expect(ask(cache, rounds(keys, 1))).toBeGreaterThan(0.8);
  });

  it('finds most entries of a cyclic access pattern slightly larger than its capacity', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    const keys = Math.floor(HOLDS * 1.25);
    ask(cache, rounds(keys, 20));
    expect(ask(cache, rounds(keys, 20))).toBeGreaterThan(0.5);
  });

  it('adapts to a new set of requested keys', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    const random = new Random(7);
    const half = Math.floor(HOLDS / 2);
    const from = (first: number) => Array.from({ length: 20 * half }, () => first + random.below(half));
    ask(cache, from(0));
    ask(cache, from(10_000));
    expect(ask(cache, from(20_000))).toBeGreaterThan(0.8);
  });

  it('stores every offered entry again after clear', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    ask(cache, rounds(3 * HOLDS, 2));
    cache.clear();
    const keys = Math.floor(HOLDS * 0.9);
    expect(ask(cache, rounds(keys, 1))).toBe(0);
    expect(ask(cache, rounds(keys, 1))).toBeGreaterThan(0.8);
  });

  it('stores an entry immediately with keep, even if it is full', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    ask(cache, rounds(3 * HOLDS, 2));
    for (let key = 1_000; key < 1_000 + HOLDS; key++) {
      cache.put(key, textOf(key), Uint32Array.of(TEXT_BYTES));
      expect(cache.find(key)).not.toBe(NOT_FOUND);
    }
  });

  it.each([
    ['of one list each', (i: number) => -1 - i * 2 ** 24],
    ['of the first blocks of a day', (i: number) => (24_000_000 + Math.floor(i / 8)) * 2 ** 20 + (i % 8)],
    ['of the first trace of each block', (i: number) => (24_000_000 + i) * 2 ** 20],
  ])('finds entries %s, although their keys share bits', (_of, keyOf) => {
    for (const capacityBytes of [CAPACITY_BYTES, 5 * 2 ** 20, 40 * 2 ** 20]) {
      const cache = new TextCache(capacityBytes);
      const keys = Array.from({ length: capacityBytes / PIECE_BYTES / 2 }, (_, i) => keyOf(i));
      ask(cache, keys);
      expect(ask(cache, keys), `of ${keys.length}`).toBeGreaterThan(0.9);
    }
  });
});
