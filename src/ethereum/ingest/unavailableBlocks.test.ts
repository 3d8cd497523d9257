import { expect, it } from 'vitest';
import type { Hash, IndexedBlock, UnavailableBlock } from '../traces/index.ts';
import { UnavailableBlocks, type UnavailableBlocksDependencies } from './unavailableBlocks.ts';

const unavailable = {
  number: 5,
  hash: '0x05' as Hash,
  unavailable: 'not traced',
} as unknown as UnavailableBlock;
const available = (number: number) => ({ block: { number } }) as IndexedBlock;

it('the unavailable blocks are read again only after a change that concerns them', async () => {
  let reads = 0;
  const store = {
    unavailable: () => Promise.resolve(++reads === 1 ? [unavailable] : []),
  };
  const dependencies = { store, nowMs: () => 0 } as unknown as UnavailableBlocksDependencies;
  const blocks = new UnavailableBlocks({ pollIntervalMs: 1, isFollower: false }, dependencies);
  await blocks.changed({ blocks: [available(4)] });
  expect(reads).toBe(0);
  await blocks.changed({ blocks: [available(4), { block: unavailable } as unknown as IndexedBlock] });
  expect(blocks.known).toEqual([unavailable]);
  await blocks.changed({ blocks: [available(6)], undoFrom: 6 });
  expect(reads).toBe(1);
  await blocks.changed({ blocks: [available(5)] });
  expect(blocks.known).toEqual([]);
});
