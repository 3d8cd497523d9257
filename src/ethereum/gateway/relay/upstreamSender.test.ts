import { expect, it } from 'vitest';
import type { RelayedRow } from '../methods/row.ts';
import type { Network } from './network.ts';
import { UpstreamSender } from './upstreamSender.ts';

const [OURS, OTHER] = ['0xaa', '0xbb'];

/** Whether a result that references these blocks is of another fork. Of the chain, only the hash of block 7 is known. */
function isOfOtherFork(blocks: readonly { number: number; hash: string }[], isSingle = false): boolean {
  const row = { referencedBlocks: () => blocks } as Partial<RelayedRow> as RelayedRow;
  const heads = { hashOf: (number: number) => (number === 7 ? OURS : undefined) };
  const network = { pool: { heads, isSingle } } as unknown as Network; // the members that are read
  const response = { kind: 'result', value: {}, bytes: Buffer.from('{}') } as const;
  return new UpstreamSender(row, network).isOfOtherFork([], response);
}

it('a result is of another fork if the chain has another hash at the height of one of its blocks', () => {
  expect(isOfOtherFork([{ number: 7, hash: OURS }])).toBe(false);
  expect(isOfOtherFork([{ number: 6, hash: OTHER }])).toBe(false);
  expect(isOfOtherFork([])).toBe(false);
  const both = [OURS, OTHER].map((hash) => ({ number: 7, hash }));
  expect(isOfOtherFork(both)).toBe(true);
  expect(isOfOtherFork(both, true)).toBe(false); // a single node has no other fork
});
