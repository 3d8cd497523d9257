import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentPostings } from './recentPostings.ts';

const KEY_BYTES = 21;

/** Returns one of few keys, many of which share a prefix. */
const keyOf = (n: number): Uint8Array => {
  const key = new Uint8Array(KEY_BYTES);
  key[0] = n % 3;
  key[KEY_BYTES - 1] = n;
  return key;
};

type Step = { readonly add: number; readonly position: number } | { readonly keep: number };

const anyStep = (): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 20, arbitrary: fc.record({ add: fc.nat(200), position: fc.nat(2 ** 32 - 1) }) },
    { weight: 1, arbitrary: fc.record({ keep: fc.nat(300) }) },
  );

test('every list contains the positions that were added and not removed, in ascending order', () => {
  fc.assert(
    fc.property(fc.array(anyStep(), { maxLength: 400 }), (steps) => {
      const recent = new RecentPostings(KEY_BYTES);
      let added: { key: number; position: number }[] = [];
      for (const step of steps)
        if ('keep' in step) {
          recent.truncate(step.keep);
          added = added.slice(0, step.keep);
        } else {
          recent.add(keyOf(step.add), 0, step.position);
          added.push({ key: step.add, position: step.position });
        }
      expect(recent.size).toBe(added.length);
      for (let n = 0; n <= 200; n++) {
        const list = recent.find(keyOf(n), 0);
        const positions = list === undefined ? [] : [...recent.positionsOf(list)];
        const expected = added.filter(({ key }) => key === n).map(({ position }) => position);
        expect(positions).toEqual(expected.sort((a, b) => a - b));
      }
    }),
  );
});

test('lists are found among many, and inOrder sorts them by the prefix of their keys', () => {
  const recent = new RecentPostings(KEY_BYTES);
  const keys = Array.from({ length: 10_000 }, (_, n) => {
    const key = new Uint8Array(KEY_BYTES);
    new DataView(key.buffer).setUint32(1, Math.imul(n, 0x9e3779b1) >>> 0);
    key[0] = n % 3;
    return key;
  });
  keys.forEach((key, n) => {
    recent.add(key, 0, n);
  });
  keys.forEach((key, n) => {
    expect([...recent.positionsOf(recent.find(key, 0) ?? -1)]).toEqual([n]);
  });
  const beginnings = Array.from(recent.inOrder(), (list) => Buffer.from(recent.keyOf(list)).readUInt32BE(0));
  expect(beginnings).toEqual([...beginnings].sort((a, b) => a - b));
  expect(new Set(recent.inOrder()).size).toBe(keys.length);
});
