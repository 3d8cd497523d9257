import { describe, expect, it } from 'vitest';
import { Random } from '../../../../test/support/random.ts';
import { JsonWriter } from './jsonWriter.ts';
import { NOWHERE, TextCache } from './textCache.ts';

const CAPACITY_BYTES = 64 * 1024;
const TEXT_BYTES = 400;
/** With the number of texts and the end of the only one. */
const PIECE_BYTES = TEXT_BYTES + 8;
const HOLDS = Math.floor(CAPACITY_BYTES / PIECE_BYTES);

const textOf = (key: number): Buffer => Buffer.from(String(key).padStart(TEXT_BYTES, '.'));

/** Asks for the pieces of keys in turn, as answers do, and holds each that is found to its text. Answers the share that was. */
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

describe('the cache of texts', () => {
  it('has what was offered while there is room, the second time already', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    const keys = Math.floor(HOLDS * 0.9);
    ask(cache, rounds(keys, 1));
    expect(ask(cache, rounds(keys, 1))).toBeGreaterThan(0.8);
  });

  it('finds most of a round that is a little more than it holds, again and again', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    const keys = Math.floor(HOLDS * 1.25);
    ask(cache, rounds(keys, 20));
    expect(ask(cache, rounds(keys, 20))).toBeGreaterThan(0.5);
  });

  it('takes over what is asked now from what was asked before', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    const random = new Random(7);
    const half = Math.floor(HOLDS / 2);
    const from = (first: number) => Array.from({ length: 20 * half }, () => first + random.below(half));
    ask(cache, from(0));
    ask(cache, from(10_000));
    expect(ask(cache, from(20_000))).toBeGreaterThan(0.8);
  });

  it('has room again once it was cleared', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    ask(cache, rounds(3 * HOLDS, 2));
    cache.clear();
    const keys = Math.floor(HOLDS * 0.9);
    expect(ask(cache, rounds(keys, 1))).toBe(0);
    expect(ask(cache, rounds(keys, 1))).toBeGreaterThan(0.8);
  });

  it('keeps at once what is read again within one answer', () => {
    const cache = new TextCache(CAPACITY_BYTES);
    ask(cache, rounds(3 * HOLDS, 2));
    for (let key = 1_000; key < 1_000 + HOLDS; key++) {
      cache.keep(key, textOf(key), Uint32Array.of(TEXT_BYTES));
      expect(cache.find(key)).not.toBe(NOWHERE);
    }
  });

  it.each([
    ['of one list each', (i: number) => -1 - i * 2 ** 24],
    ['of the first blocks of a day', (i: number) => (24_000_000 + Math.floor(i / 8)) * 2 ** 20 + (i % 8)],
    ['of the first trace of each block', (i: number) => (24_000_000 + i) * 2 ** 20],
  ])('has pieces %s, whatever their keys have in common', (_of, keyOf) => {
    for (const capacityBytes of [CAPACITY_BYTES, 5 * 2 ** 20, 40 * 2 ** 20]) {
      const cache = new TextCache(capacityBytes);
      const keys = Array.from({ length: capacityBytes / PIECE_BYTES / 2 }, (_, i) => keyOf(i));
      ask(cache, keys);
      expect(ask(cache, keys), `of ${keys.length}`).toBeGreaterThan(0.9);
    }
  });
});
