import { expect, test } from 'vitest';
import { historyBlock } from '../../../../../../test/support/historyBlock.ts';
import { Random } from '../../../../../../test/support/random.ts';
import { syntheticAddresses } from '../../../../../../test/support/syntheticChain.ts';
import { BLOCKS_PER_SEGMENT, indexBlock, TRACES_PER_CHUNK } from '../../../../traces/index.ts';
import { AddressTally } from './addressTally.ts';
import { HalfSipHash } from './halfSipHash.ts';
import { COLUMNS, MAX_KEPT_POSITIONS, PartReader } from './parts.ts';
import { ADDRESS_BYTES, bucketOf, EntryReader, findParts, hashOf } from './run.ts';

const SEGMENT = 3;
const HASH = new HalfSipHash(Buffer.alloc(8, 5));

test('a run has each address once, in the bucket of its hash, with all counts and the positions of rare ones', () => {
  const random = new Random(17);
  const addresses = syntheticAddresses(1_000);
  const tally = new AddressTally(HASH);
  const expected = new Map<string, Record<'from' | 'to', number[]>>();
  for (let offset = 0; offset < 200; offset++) {
    const number = SEGMENT * BLOCKS_PER_SEGMENT + offset;
    const { header, traces } = historyBlock(random, addresses, { number });
    const { chunks, postings } = indexBlock(header, traces);
    chunks.forEach((chunk, i) => {
      tally.add(chunk, number, i * TRACES_PER_CHUNK);
    });
    for (const side of ['from', 'to'] as const)
      postings[side].terms.forEach((term, i) => {
        const known = expected.get(term) ?? { from: [], to: [] };
        known[side].push(postings[side].positions[i] ?? -1);
        expected.set(term, known);
      });
  }
  const run = tally.run(SEGMENT);
  const buckets = Array.from({ length: 2 ** run.bits }, (_, number) => run.bucket(number) ?? Buffer.alloc(0));
  let entries = 0;
  for (const bucket of buckets) for (const entry = new EntryReader(bucket); entry.next(); ) entries++;
  expect(entries).toBe(expected.size);
  // Small ones are soon searched.
  const bytes = buckets.reduce((sum, bucket) => sum + bucket.length, 0);
  expect(bytes / buckets.length).toBeGreaterThan(500);
  expect(bytes / buckets.length).toBeLessThan(1_300);

  for (const [term, positions] of expected) {
    const address = Buffer.from(term.slice(2), 'hex');
    expect(address).toHaveLength(ADDRESS_BYTES);
    const bucket = buckets[bucketOf(hashOf(HASH, address), run.bits)] ?? Buffer.alloc(0);
    const part = new PartReader().open(findParts(bucket, address) ?? new Uint8Array());
    expect(part.next()).toBe(true);
    expect(part.segment).toBe(SEGMENT);
    for (const [side, first] of [
      ['from', 0],
      ['to', COLUMNS / 2],
    ] as const) {
      const counted = part.counts.subarray(first, first + COLUMNS / 2).reduce((sum, count) => sum + count, 0);
      expect(counted).toBe(positions[side].length);
      expect(part.positions(side)).toEqual(
        counted > MAX_KEPT_POSITIONS ? undefined : Uint32Array.from(positions[side]),
      );
    }
    expect(part.next()).toBe(false);
  }
});

test('a run of no address has one bucket and nothing in it', () => {
  const run = new AddressTally(HASH).run(SEGMENT);
  expect([run.bits, run.bucket(0)]).toEqual([0, undefined]);
});
