import { afterEach, describe, expect, it } from 'vitest';
import { lmdbTraces } from '../../../test/contract/lmdbTraces.ts';
import { Random } from '../../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../test/support/syntheticChain.ts';
import { type Finality, NodeError } from '../nodes/index.ts';
import { type Hash, IndexConflictError, indexBlock, type TraceStore } from '../traces/index.ts';
import { ChainFollower, type ChainFollowerOptions, type HeadChange } from './chainFollower.ts';
import { FinalityError } from './fork.ts';
import type { ChainSource } from './pooledSource.ts';

const SHAPE = { addresses: syntheticAddresses(2), maxTransactions: 1, maxFrames: 1 };
const CHAIN = { chainId: 1, genesisHash: `0x${'11'.repeat(32)}` as Hash };

let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

/** Returns a chain with blocks up to `last`, which has the blocks of `ancestor` below number `from`. */
function chainTo(
  last: number,
  { ancestor = [], from = 0 }: { ancestor?: SyntheticBlock[]; from?: number } = {},
) {
  const random = new Random(last + 7919 * from);
  const blocks = ancestor.slice(0, from);
  for (let number = blocks.length; number <= last; number++)
    blocks.push(syntheticBlock(random, SHAPE, { number, parentHash: blocks.at(-1)?.header.hash }));
  return blocks;
}

/** Follows a chain with an index. `chain.blocks` and `chain.final` may be replaced between two passes. */
async function following(
  blocks: SyntheticBlock[],
  finality: Finality,
  options: Pick<ChainFollowerOptions, 'sharedHead'> = {},
) {
  const folder = await lmdbTraces();
  const store: TraceStore = await folder.open();
  close = async () => {
    await store.close();
    await folder.remove();
  };
  const chain = { blocks, final: undefined as number | undefined, fails: false, failures: 0 };
  const changes: HeadChange[] = [];
  const reorganised: [number, number][] = [];
  const refOf = (number: number) => {
    const header = chain.blocks[number]?.header;
    return header && { number, hash: header.hash, parentHash: header.parentHash };
  };
  const heads = async () => {
    const latest = refOf(chain.blocks.length - 1);
    const finalized = chain.final === undefined ? undefined : refOf(chain.final);
    if (latest === undefined) throw new Error('the chain is empty');
    return { latest, ...(finalized && { finalized }) };
  };
  const source: ChainSource = {
    chain: async () => CHAIN,
    heads,
    freshHeads: heads,
    knownHeads: undefined,
    blockRef: async (number) => refOf(number),
    async block(number) {
      if (chain.fails) {
        chain.failures++;
        throw new NodeError('unreachable', 'the node fails');
      }
      return chain.blocks[number];
    },
  };
  const follower = new ChainFollower(
    { fromBlock: 0, finality, ...options },
    {
      store,
      source,
      observer: { indexed: () => undefined, reorganised: (...fork) => reorganised.push(fork) },
      write: (change) => store.apply(change),
      followed: (change) => changes.push(change),
      signal: new AbortController().signal,
      isFailing: () => false,
    },
  );
  return { store, chain, follower, changes, reorganised };
}

async function catchUp(follower: ChainFollower): Promise<void> {
  while (await follower.catchUp());
}

const headOf = async (store: TraceStore) => (await store.head())?.hash;
const lastHash = (blocks: readonly SyntheticBlock[]) => blocks.at(-1)?.header.hash;

describe('without finality', () => {
  it('a final block of the index is replaced by a fork below it', async () => {
    const blocks = chainTo(20);
    const { store, chain, follower, reorganised } = await following(blocks, 'none');
    await catchUp(follower);
    // An earlier run with another finality has stored a final block.
    await store.apply({ blocks: [], finalizedNumber: 15 });
    chain.blocks = chainTo(22, { ancestor: blocks, from: 10 });
    await catchUp(follower);
    expect(await headOf(store)).toBe(lastHash(chain.blocks));
    expect(await store.finalizedNumber()).toBeLessThan(10);
    expect(reorganised).toEqual([[10, 11]]);
  });

  it('it is replaced also by a fork that removes more than 1,024 blocks', async () => {
    const blocks = chainTo(1100);
    const { store, chain, follower, reorganised } = await following(blocks, 'none');
    await store.bindChain(CHAIN);
    await store.apply({ blocks: blocks.map(({ header, traces }) => indexBlock(header, traces)) });
    await store.apply({ blocks: [], finalizedNumber: 1099 });
    chain.blocks = chainTo(1101, { ancestor: blocks, from: 20 });
    await catchUp(follower);
    expect(await headOf(store)).toBe(lastHash(chain.blocks));
    expect(reorganised).toEqual([[20, 1081]]);
  });

  it('no block becomes final', async () => {
    const { store, chain, follower } = await following(chainTo(20), 'none');
    chain.final = 10;
    await catchUp(follower);
    expect(await store.finalizedNumber()).toBeUndefined();
  });
});

describe('with finality', () => {
  it('a fork below a final block is an error, and the index does not change', async () => {
    const blocks = chainTo(20);
    const { store, chain, follower } = await following(blocks, 'node');
    chain.final = 12;
    await catchUp(follower);
    expect(await store.finalizedNumber()).toBe(12);
    chain.blocks = chainTo(22, { ancestor: blocks, from: 12 });
    await expect(catchUp(follower)).rejects.toThrow(FinalityError);
    expect(await headOf(store)).toBe(lastHash(blocks));
    await expect(store.apply({ undoFrom: 12, blocks: [] })).rejects.toThrow(IndexConflictError);
  });

  it('a fork above the final block replaces the blocks, in one change with the new ones', async () => {
    const blocks = chainTo(20);
    const { store, chain, follower, changes } = await following(blocks, 'node');
    chain.final = 12;
    await catchUp(follower);
    chain.blocks = chainTo(21, { ancestor: blocks, from: 13 });
    await catchUp(follower);
    expect(await headOf(store)).toBe(lastHash(chain.blocks));
    expect(changes.map(({ undoFrom, blocks: { length } }) => [undoFrom, length])).toEqual([
      [undefined, 21],
      [13, 9],
    ]);
    expect(await store.finalizedNumber()).toBe(12);
  });

  it('the final block never goes back, and is stored only if the index has it', async () => {
    const blocks = chainTo(20);
    const { store, chain, follower } = await following(blocks, 'node');
    chain.final = 12;
    await catchUp(follower);
    chain.final = 11;
    await catchUp(follower);
    expect(await store.finalizedNumber()).toBe(12);
  });

  it('by depth, blocks at that depth are final', async () => {
    const { store, follower } = await following(chainTo(20), { depth: 5 });
    await catchUp(follower);
    expect(await store.finalizedNumber()).toBe(15);
    expect(await follower.finalNumber()).toBe(15);
  });
});

describe('a pass', () => {
  /** Follows an index that lacks the blocks 8 and 9, which were removed due to damage. */
  async function withRemoved(isShared: boolean) {
    const options = isShared ? { sharedHead: async () => undefined } : {};
    const following20 = await following(chainTo(20), { depth: 5 }, options);
    const { store, chain, follower } = following20;
    await store.bindChain(CHAIN);
    const isLeft = (_: unknown, number: number): boolean => number !== 8 && number !== 9;
    const left = chain.blocks.filter(isLeft).map(({ header, traces }) => indexBlock(header, traces));
    await store.apply({ blocks: left });
    follower.removed([8, 9]);
    return following20;
  }

  it.each([false, true])(
    'fetches removed final blocks again only with a shared index (%s), until a node returns them',
    async (isShared) => {
      const { store, chain, follower } = await withRemoved(isShared);
      chain.fails = true;
      await catchUp(follower);
      expect(await store.firstMissing(0, 20)).toBe(8);
      chain.fails = false;
      chain.blocks = chainTo(21, { ancestor: chain.blocks, from: 21 });
      await catchUp(follower);
      expect(await store.firstMissing(0, 21)).toBe(isShared ? undefined : 8);
    },
  );

  it('fetches removed final blocks that no node returned once for each new head', async () => {
    const { store, chain, follower } = await withRemoved(true);
    chain.fails = true;
    for (let pass = 0; pass < 3; pass++) await catchUp(follower);
    expect(chain.failures).toBe(1);
    chain.fails = false;
    await catchUp(follower);
    expect(await store.firstMissing(0, 20)).toBe(8);
  });

  it('fetches removed final blocks in a later pass if the index could not be read', async () => {
    const { store, chain, follower } = await withRemoved(true);
    const { firstMissing } = store;
    store.firstMissing = () => {
      throw new Error('cannot be read');
    };
    await expect(follower.catchUp()).rejects.toThrow('cannot be read');
    store.firstMissing = firstMissing;
    await catchUp(follower);
    expect(await store.firstMissing(0, chain.blocks.length - 1)).toBeUndefined();
  });

  it('adds 256 blocks at most, and reports whether more remain', async () => {
    const { store, follower } = await following(chainTo(300), 'node');
    expect(follower.lagBlocks).toBeUndefined();
    expect(await follower.catchUp()).toBe(true);
    expect((await store.head())?.number).toBe(255);
    expect(follower.lagBlocks).toBe(45);
    expect(await follower.catchUp()).toBe(false);
    expect((await store.head())?.number).toBe(300);
    expect(follower.lagBlocks).toBe(0);
    expect(await follower.catchUp()).toBe(false);
  });

  it('removes the blocks above a fork even if the new chain is shorter', async () => {
    const blocks = chainTo(20);
    const { store, chain, follower } = await following(blocks, 'node');
    await catchUp(follower);
    chain.blocks = chainTo(17, { ancestor: blocks, from: 16 });
    await catchUp(follower);
    expect(await headOf(store)).toBe(lastHash(chain.blocks));
  });

  it('keeps the blocks above the head of a lagging node', async () => {
    const blocks = chainTo(20);
    const { store, chain, follower, reorganised } = await following(blocks, 'node');
    await catchUp(follower);
    chain.blocks = blocks.slice(0, 18);
    await catchUp(follower);
    expect([await headOf(store), reorganised]).toEqual([lastHash(blocks), []]);
  });
});
