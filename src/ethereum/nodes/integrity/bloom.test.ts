import { expect, it } from 'vitest';
import { bloomOf, isWithin } from './bloom.ts';

/** An address and the three bits of its hash in the filter (yellow paper, 4.3.1), computed with ethers. */
const ADDRESS = '0x0000000000000000000000000000000000000001';

it('a bloom filter contains the filters of all of its logs, and not those of other logs', () => {
  const [one] = [bloomOf([{ address: ADDRESS, topics: [] }]).bits];
  const two = bloomOf([{ address: ADDRESS, topics: [`0x${'2'.repeat(64)}`] }]).bits;
  const bitsOf = (bits: Buffer) =>
    bits.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
  expect(bitsOf(one)).toBe(3);
  expect(bitsOf(two)).toBe(6);
  expect(isWithin(one, two)).toBe(true);
  expect(isWithin(two, one)).toBe(false);
});
