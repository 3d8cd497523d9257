import { describe, expect, it } from 'vitest';
import type { Hash } from '../../traces/index.ts';
import { type Claim, NetworkHeads } from './networkHeads.ts';

/** Block `number` of a chain that forked from the main chain after block `forkedAt`. */
const block = (number: number, fork = '', forkedAt = 0) => {
  const hash = (n: number) => (n > forkedAt ? `0x${n}${fork}` : `0x${n}`) as Hash; // only compared
  return { number, hash: hash(number), parentHash: hash(number - 1) };
};
const claim = (
  node: string,
  { latest, safe, finalized }: Record<'latest' | 'safe' | 'finalized', number>,
): Claim => ({
  node,
  heads: { latest: block(latest), safe: block(safe), finalized: block(finalized) },
});
const at = (node: string, latest: ReturnType<typeof block>): Claim => ({ node, heads: { latest } });

describe('the ancestors of the head', () => {
  const at = (...blocks: readonly ReturnType<typeof block>[]): readonly string[] => {
    const heads = new NetworkHeads(() => undefined);
    for (const [i, latest] of blocks.entries()) heads.update([{ node: 'a', heads: { latest } }], i);
    return heads.ancestors.map(({ number, hash }) => `${number} ${hash}`);
  };

  it('are the blocks below it that are known without a gap', () => {
    expect(at(block(5), block(6))).toEqual(['4 0x4', '5 0x5']);
    expect(at(block(5), block(8), block(9))).toEqual(['7 0x7', '8 0x8']);
  });

  it('are not the blocks below a block whose parent is not known', () => {
    expect(at(block(5), block(7))).toEqual(['6 0x6']);
    expect(at(block(5), block(7), block(8))).toEqual(['6 0x6', '7 0x7']);
  });

  it('are on its chain after a reorg', () => {
    expect(at(block(5), block(6), block(6, 'b', 5))).toEqual(['4 0x4', '5 0x5']);
    expect(at(block(5), block(6), block(6, 'b', 4))).toEqual(['5 0x5b']);
  });

  it('are empty for the genesis block and without a head', () => {
    expect(at(block(0))).toEqual([]);
    expect(at()).toEqual([]);
  });
});

describe('the heads of the chain', () => {
  it('do not go back if a lagging node is polled', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([claim('a', { latest: 100, safe: 90, finalized: 80 })], 0);
    heads.update(
      [
        claim('a', { latest: 100, safe: 90, finalized: 80 }),
        claim('b', { latest: 95, safe: 85, finalized: 75 }),
      ],
      1,
    );
    expect([heads.latest?.number, heads.safe, heads.finalized]).toEqual([100, 90, 80]);
  });

  it('advance with the nodes; safe and finalized advance to the lowest of them', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update(
      [
        claim('a', { latest: 100, safe: 90, finalized: 80 }),
        claim('b', { latest: 100, safe: 90, finalized: 80 }),
      ],
      0,
    );
    heads.update(
      [
        claim('a', { latest: 110, safe: 100, finalized: 90 }),
        claim('b', { latest: 105, safe: 95, finalized: 85 }),
      ],
      1,
    );
    expect([heads.latest?.number, heads.safe, heads.finalized]).toEqual([110, 95, 85]);
  });

  it('safe is never above a head that went back', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([claim('a', { latest: 100, safe: 90, finalized: 80 })], 0);
    heads.update([claim('a', { latest: 85, safe: 84, finalized: 80 })], 1);
    expect(heads.latest?.number).toBe(85);
    expect(heads.safe).toBeLessThanOrEqual(85);
  });

  it('safe goes back with the head, and final does not', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([claim('a', { latest: 100, safe: 68, finalized: 36 })], 0);
    heads.update([claim('a', { latest: 95, safe: 63, finalized: 31 })], 1);
    expect([heads.latest?.number, heads.safe, heads.finalized]).toEqual([95, 63, 36]);
  });

  it('among two blocks at one height, the head is the one that most nodes have', () => {
    const heads = new NetworkHeads(() => undefined);
    const [ours, other] = [block(100), block(100, 'x', 99)];
    heads.update([at('a', other)], 0);
    heads.update([at('a', other), at('b', ours)], 1);
    expect(heads.latest).toEqual(other);
    heads.update([at('a', other), at('b', ours), at('c', ours)], 2);
    expect(heads.latest).toEqual(ours);
    heads.update([at('a', other), at('b', ours)], 3);
    expect(heads.latest).toEqual(ours);
  });

  it('distinguishes a node on another fork from a lagging node on the same fork', () => {
    const heads = new NetworkHeads(() => undefined);
    for (const number of [98, 99, 100]) heads.update([at('a', block(number))], number);
    expect(heads.isOnChain({ latest: block(98) })).toBe(true);
    expect(heads.isOnChain({ latest: block(99, 'x', 98) })).toBe(false);
    expect(heads.isOnChain({ latest: block(100, 'x', 99) })).toBe(false);
    // The head switches forks: hashes below the first known parent of the new fork are unknown again.
    heads.update([at('a', block(101, 'x', 97))], 101);
    expect(heads.isOnChain({ latest: block(100) })).toBe(false);
    expect(heads.isOnChain({ latest: block(100, 'x', 97) })).toBe(true);
    expect(heads.isOnChain({ latest: block(99) })).toBe(true);
  });

  it('go back immediately if all nodes that reported the head report less, unless one of them is gone', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([at('a', block(100)), at('b', block(100)), at('c', block(99))], 0);
    heads.update([at('a', block(90)), at('b', block(100)), at('c', block(99))], 1);
    expect(heads.latest?.number).toBe(100);
    heads.update([at('a', block(90)), at('c', block(99))], 2);
    expect(heads.latest?.number).toBe(100);
    heads.update([at('a', block(90)), at('b', block(91)), at('c', block(89))], 3);
    expect(heads.latest?.number).toBe(91);
    expect(heads.hashOf(100)).toBeUndefined();
  });

  it('go back after a while if the node that reported the head is gone', () => {
    const heads = new NetworkHeads(() => undefined);
    heads.update([at('a', block(100)), at('b', block(99))], 0);
    heads.update([at('b', block(99))], 14_000);
    expect(heads.latest?.number).toBe(100);
    heads.update([at('b', block(99))], 16_000);
    expect(heads.latest?.number).toBe(99);
  });
});
