import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type TieredDependencies, TieredTraceStore } from '../../src/ethereum/store/tiered/index.ts';
import { indexBlock } from '../../src/ethereum/traces/index.ts';
import { delayedStore } from '../support/delayedStore.ts';
import { referenceFilter } from '../support/plainFilter.ts';
import { Random } from '../support/random.ts';
import { stringifyTraces } from '../support/textOfTraces.ts';
import { GrowingChain } from './growingChain.ts';
import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

/** So few that the index of the newest blocks is restarted many times in each test. */
const KEPT_BLOCKS = 15;

const openRecent = async () => {
  const recent = await lmdbTraces();
  const store = await recent.open();
  return {
    ...{ store, folder: recent.path },
    async discard() {
      await store.close();
      await recent.remove();
    },
  };
};
const failed = (error: unknown): never => {
  throw error;
};
const prepare = async () => {
  const { open, remove } = await lmdbTraces();
  return {
    remove,
    async open() {
      const shared = delayedStore(await open(), new Random(2));
      return new TieredTraceStore({ keepBlocks: KEPT_BLOCKS }, { shared, openRecent, failed });
    },
  };
};

// Both tiers are the embedded engine, which other tests cover; the tiered store chooses between them.
traceStoreContract('a local index of the newest blocks in front of a slow shared index', prepare, {
  ...EMBEDDED,
  every: 2,
  without: ['shapes', 'long searches'],
});

describe('a tiered store after another server wrote all blocks to the shared index', () => {
  const opened = async (dependencies: Partial<TieredDependencies> = {}) => {
    const { open, remove } = await lmdbTraces();
    const shared = await open();
    const chain = new GrowingChain(new Random(5), 100);
    await chain.grow(shared, 8);
    const store = new TieredTraceStore(
      { keepBlocks: KEPT_BLOCKS },
      { shared, openRecent, failed, ...dependencies },
    );
    onTestFinished(async () => {
      await store.close();
      await remove();
    });
    const last = chain.blocks.get(chain.next - 1);
    if (last === undefined) throw new Error('the chain is empty');
    return { shared, chain, store, head: indexBlock(last.header, last.traces) };
  };

  it('keeps the head locally, and answers it and later blocks without the shared index', async () => {
    const { shared, chain, store, head } = await opened();
    expect(store.needsNewest).toBe(true);
    await store.cacheNewest(head);
    expect(store.needsNewest).toBe(false);
    await chain.grow(store, 2);
    const asked = ['head', 'block', 'filter'].map((name) => vi.spyOn(shared, name as 'head'));
    const [fromBlock, toBlock] = [head.block.number, chain.next - 1];
    const filter = {
      fromBlock,
      toBlock,
      fromAddresses: [],
      toAddresses: [],
      mode: 'union',
      after: 0,
      count: 1e6,
    } as const;
    const bytes = await store.filter(filter, 1e8);
    expect(Buffer.from(bytes ?? []).toString()).toBe(stringifyTraces(referenceFilter(chain.traces, filter)));
    expect((await store.head())?.number).toBe(toBlock);
    for (const spy of asked) expect(spy).not.toHaveBeenCalled();
  });

  it('does not retry to keep a head after a failure until the next block', async () => {
    let isFull = true;
    const reported: unknown[] = [];
    const { chain, store, head } = await opened({
      openRecent: () => (isFull ? Promise.reject(new Error('the disk is full')) : openRecent()),
      failed: (error) => reported.push(error),
    });
    await store.cacheNewest(head);
    expect([reported.length, store.needsNewest]).toEqual([1, false]);
    isFull = false;
    await chain.grow(store, 1);
    expect((await store.head())?.number).toBe(chain.next - 1);
    expect(store.needsNewest).toBe(false);
  });
});
