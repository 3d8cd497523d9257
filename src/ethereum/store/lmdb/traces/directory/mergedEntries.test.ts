import { expect, test } from 'vitest';
import { MergedEntries } from './mergedEntries.ts';
import { encodeBucket, findParts } from './run.ts';

const address = (byte: number): Uint8Array => new Uint8Array(20).fill(byte);

test('an address has one entry with all of its parts, and shares none with another of the same hash', () => {
  const merged = new MergedEntries();
  const long = new Uint8Array(300).fill(7);
  merged.add(5, address(1), Uint8Array.of(1));
  merged.add(5, address(2), Uint8Array.of(2));
  merged.add(5, address(1), Uint8Array.of(3));
  merged.add(6, address(3), long);
  merged.add(6, address(3), Uint8Array.of(4));
  const bucket = encodeBucket(merged.entries);
  expect(merged.entries).toHaveLength(3);
  expect(findParts(bucket, address(1))).toEqual(Buffer.of(1, 3));
  expect(findParts(bucket, address(2))).toEqual(Buffer.of(2));
  expect(findParts(bucket, address(3))).toEqual(Buffer.concat([long, Buffer.of(4)]));
  expect(findParts(bucket, address(4))).toBeUndefined();
});
