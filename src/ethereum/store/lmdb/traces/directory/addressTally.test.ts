import { expect, test } from 'vitest';
import { historyBlock } from '../../../../../../test/support/historyBlock.ts';
import { Random } from '../../../../../../test/support/random.ts';
import { syntheticAddresses } from '../../../../../../test/support/syntheticChain.ts';
import { BLOCKS_PER_SEGMENT, indexBlock, positionOf, TRACE_TYPES } from '../../../../traces/index.ts';
import { AddressTally } from './addressTally.ts';
import { HalfSipHash } from './halfSipHash.ts';
import { columnOf, MAX_INLINE_POSITIONS, PartReader } from './parts.ts';
import { ADDRESS_BYTES, bucketOf, EntryReader, findParts, hashOf } from './run.ts';

const SEGMENT = 3;
const SIDES = ['from', 'to'] as const;
const HASH = new HalfSipHash(Buffer.alloc(8, 5));

test('a run has each address once, in the bucket of its hash, with all counts and the positions of rare addresses', () => {
  const random = new Random(17);
  const addresses = syntheticAddresses(1_000);
  const expected = new Map<string, Record<'from' | 'to', number[]>>();
  const types: Record<string, number> = {};
  for (let offset = 0; offset < 200; offset++) {
    const number = SEGMENT * BLOCKS_PER_SEGMENT + offset;
    const { header, traces } = historyBlock(random, addresses, { number });
    const { postings } = indexBlock(header, traces);
    traces.forEach(({ type }, i) => {
      types[positionOf(number, i)] = TRACE_TYPES.indexOf(type);
    });
    for (const side of SIDES)
      postings[side].terms.forEach((term, i) => {
        const known = expected.get(term) ?? { from: [], to: [] };
        known[side].push(postings[side].positions[i] ?? -1);
        expected.set(term, known);
      });
  }
  const tally = new AddressTally(HASH, SEGMENT);
  for (const [term, positions] of expected) {
    for (const side of SIDES)
      for (const position of positions[side]) tally.add(side, types[position] ?? -1, position);
    tally.finishAddress(Buffer.from(`00${term.slice(2)}`, 'hex'), 1);
  }
  const run = tally.run();
  const buckets = Array.from({ length: 2 ** run.bits }, (_, number) => run.bucket(number));
  let entries = 0;
  for (const bucket of buckets) for (const entry = new EntryReader(bucket); entry.next(); ) entries++;
  expect(entries).toBe(expected.size);
  // Buckets must be small enough to scan quickly.
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
    for (const side of SIDES) {
      TRACE_TYPES.forEach((_, type) => {
        const counted = positions[side].filter((position) => types[position] === type).length;
        expect(part.counts[columnOf(side, type)]).toBe(counted);
      });
      const isKept = positions[side].length <= MAX_INLINE_POSITIONS;
      expect(part.positions(side)).toEqual(isKept ? Uint32Array.from(positions[side]) : undefined);
    }
    expect(part.next()).toBe(false);
  }
});

test('a run without addresses has one empty bucket', () => {
  const run = new AddressTally(HASH, SEGMENT).run();
  expect([run.bits, run.bucket(0)]).toEqual([0, Buffer.alloc(0)]);
});
