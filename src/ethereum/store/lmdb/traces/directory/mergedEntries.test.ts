import { expect, test } from 'vitest';
import { MergedEntries } from './mergedEntries.ts';
import { BucketWriter, EntryReader, findParts } from './run.ts';

const address = (byte: number): Uint8Array => new Uint8Array(20).fill(byte);

/** Returns a reader at the second entry of a bucket. */
function entryOf(byte: number, ...parts: readonly number[]): EntryReader {
  const writer = new BucketWriter();
  writer.entry(address(9), 0, 1);
  writer.parts(Uint8Array.of(0), 0, 1);
  writer.entry(address(byte), 0, parts.length);
  writer.parts(Uint8Array.from(parts), 0, parts.length);
  const entry = new EntryReader(writer.take());
  entry.next();
  entry.next();
  return entry;
}

test('a merged address has one entry with all its parts, separate from another address with the same hash', () => {
  const merged = new MergedEntries();
  const long = new Array<number>(300).fill(7);
  merged.add(5, entryOf(1, 1));
  merged.add(5, entryOf(2, 2));
  merged.add(5, entryOf(1, 3));
  merged.add(6, entryOf(3, ...long));
  merged.add(6, entryOf(3, 4, 5, 6), Uint8Array.of(5));
  const writer = new BucketWriter();
  merged.writeTo(writer);
  const bucket = writer.take();
  expect(findParts(bucket, address(1))).toEqual(Buffer.of(1, 3));
  expect(findParts(bucket, address(2))).toEqual(Buffer.of(2));
  expect(findParts(bucket, address(3))).toEqual(Buffer.from([...long, 5]));
  expect(findParts(bucket, address(4))).toBeUndefined();
  const entries = new EntryReader(bucket);
  for (let i = 0; i < 3; i++) expect(entries.next()).toBe(true);
  expect(entries.next()).toBe(false);
});

test('BucketWriter returns a bucket of any size, and an empty one if nothing was written', () => {
  const writer = new BucketWriter();
  expect(writer.take()).toHaveLength(0);
  const large = new Uint8Array(100_000).fill(3);
  writer.entry(address(1), 0, large.length);
  for (let at = 0; at < large.length; at += 40) writer.parts(large, at, at + 40);
  const bucket = writer.take();
  expect(Buffer.compare(findParts(bucket, address(1)) ?? Buffer.alloc(0), large)).toBe(0);
  expect(writer.take()).toHaveLength(0);
});
