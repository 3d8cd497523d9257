import { describe, expect, it } from 'vitest';
import type { TraceProvider } from '../nodes/index.ts';
import type { Hash, StoredBlock, TraceStore } from '../traces/index.ts';
import { FinalityError, findFork } from './fork.ts';

/** Hashes of a chain by block number. Blocks from `forkAt` on differ from those of the main chain. */
type Chain = ReadonlyMap<number, Hash>;
const chain = (numbers: readonly number[], forkAt = Number.POSITIVE_INFINITY): Chain =>
  new Map(numbers.map((number) => [number, `0x${number}${number >= forkAt ? 'b' : ''}` as Hash])); // only compared
const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, i) => i);

/** Returns the fork of an index and a node's chain, and the numbers of the blocks that were requested from the node. */
async function forkOf(index: Chain, node: Chain, finalNumber?: number) {
  const requested: number[] = [];
  const blockOf = (number: number): StoredBlock | undefined => {
    const hash = index.get(number);
    return hash && { number, hash, parentHash: hash, timestamp: 0, traceCount: 0 };
  };
  const store = {
    lastBlock: (last: number) => blockOf(Math.max(...[...index.keys()].filter((number) => number <= last))),
  } as Partial<TraceStore> as TraceStore; // no other method is called
  const source = {
    async blockRef(number: number) {
      requested.push(number);
      const hash = node.get(number);
      return hash && { number, hash };
    },
  } as Partial<TraceProvider> as TraceProvider; // no other method is called
  const number = Math.max(...node.keys());
  const latest = { number, hash: node.get(number) as Hash }; // every chain has a block
  return { fork: await findFork(store, source, { latest, finalNumber }), requested };
}

describe('the lowest replaced block', () => {
  it.each<[string, Chain, Chain, number | undefined]>([
    ['is none if the head is the same', chain(upTo(9)), chain(upTo(9)), undefined],
    ['is none if the node only has more blocks', chain(upTo(9)), chain(upTo(20)), undefined],
    ['is none if the node lags', chain(upTo(9)), chain(upTo(5)), undefined],
    ['is none in an empty index', chain([]), chain(upTo(9)), undefined],
    ['is the head if only the head differs', chain(upTo(9)), chain(upTo(9), 9), 9],
    ['is the first block after the common ancestor', chain(upTo(9)), chain(upTo(12), 4), 4],
    ['is found below the head of a lagging node', chain(upTo(9)), chain(upTo(6), 4), 4],
    ['is the block after a gap that has no common block', chain([1, 2, 7, 8]), chain(upTo(8), 5), 7],
    ['is found across a gap', chain([1, 2, 7, 8]), chain(upTo(8), 2), 2],
    ['is the first block of the index if no block is common', chain([3, 4, 5]), chain(upTo(5), 1), 3],
    ['is block 0 if even that differs', chain(upTo(3)), chain(upTo(3), 0), 0],
  ])('%s', async (_, ...[index, node, fork]) => {
    expect((await forkOf(index, node)).fork).toBe(fork);
  });

  it('is found with one request per replaced block, and the head is not requested again', async () => {
    expect((await forkOf(chain(upTo(9)), chain(upTo(9), 7))).requested).toEqual([8, 7, 6]);
    expect((await forkOf(chain(upTo(9)), chain(upTo(9)))).requested).toEqual([]);
  });

  it('is the one above a block that the node cannot return', async () => {
    const node = new Map([...chain(upTo(9), 4)].filter(([number]) => number !== 6));
    expect((await forkOf(chain(upTo(9)), node)).fork).toBe(7);
  });
});

describe('a final block', () => {
  it('that differs is an error that names it', async () => {
    const forked = forkOf(chain(upTo(9)), chain(upTo(9), 4), 4);
    await expect(forked).rejects.toThrow(FinalityError);
    await expect(forked).rejects.toThrow('finalized block 4 or below');
    await expect(forkOf(chain(upTo(3)), chain(upTo(3), 0), 0)).rejects.toThrow(FinalityError);
  });

  it('that is the common ancestor is not an error', async () => {
    expect((await forkOf(chain(upTo(9)), chain(upTo(9), 4), 3)).fork).toBe(4);
  });
});
