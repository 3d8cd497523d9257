import { expect, test } from 'vitest';
import { defaultFinality, finalNumber } from './finality.ts';
import type { HeadBlock } from './nodeHeads.ts';

const block = (number: number) => ({ number }) as HeadBlock; // the rule uses only the number

test('development chains have no final blocks by default, and other chains those that nodes report', () => {
  // Chain ids of Ganache and of anvil, mainnet and Sepolia.
  expect([1337, 31337, 1, 11155111].map(defaultFinality)).toEqual(['none', 'none', 'node', 'node']);
});

test('the highest final block is the reported one, or the one at a depth below the head', () => {
  const heads = { latest: block(100), finalized: block(36) };
  expect(finalNumber('none', heads)).toBeUndefined();
  expect(finalNumber('node', heads)).toBe(36);
  expect(finalNumber('node', { latest: block(100) })).toBeUndefined();
  expect(finalNumber({ depth: 100 }, heads)).toBe(0);
  expect(finalNumber({ depth: 101 }, heads)).toBeUndefined();
  expect(finalNumber({ depth: 0 }, {})).toBeUndefined();
});
