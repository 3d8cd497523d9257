import { expect, test } from 'vitest';
import { lmdbTraces } from '../../../test/contract/lmdbTraces.ts';
import { Random } from '../../../test/support/random.ts';
import {
  type SyntheticBlock,
  syntheticAddresses,
  syntheticBlock,
} from '../../../test/support/syntheticChain.ts';
import { until } from '../../../test/support/until.ts';
import type { Hash } from '../traces/index.ts';
import { BlockUnavailableError, Indexer, type IndexerObserver } from './index.ts';
import type { ChainSource } from './pooledSource.ts';

const DAY_MS = 86_400_000;
const GENESIS = `0x${'7'.repeat(64)}` as Hash; // 32 bytes
const nothing = () => undefined;
const observer: IndexerObserver = {
  indexed: nothing,
  reorganised: nothing,
  recovered: nothing,
  filled: nothing,
  failed: nothing,
  unavailable: nothing,
  available: nothing,
  gapClosed: nothing,
  repaired: nothing,
  evicted: nothing,
};

/** Starts an indexer of a chain that has one block. */
async function setUp() {
  const random = new Random(17);
  const shape = { addresses: syntheticAddresses(4), maxTransactions: 2, maxFrames: 2 };
  const blocks: SyntheticBlock[] = [];
  const mine = () =>
    blocks.push(
      syntheticBlock(random, shape, { number: blocks.length, parentHash: blocks.at(-1)?.header.hash }),
    );
  mine();
  const heads = async () => ({ latest: blocks.at(-1)?.header as SyntheticBlock['header'] }); // the chain is not empty
  const source: ChainSource = {
    knownHeads: undefined,
    chain: async () => ({ chainId: 1, genesisHash: GENESIS }),
    heads,
    freshHeads: heads,
    blockRef: async (number) => blocks[number]?.header,
    block: async (number) => blocks[number],
  };
  const data = await lmdbTraces();
  const store = await data.open();
  const indexer = new Indexer(
    { pollIntervalMs: DAY_MS, finality: { depth: 10 } },
    { store, source, observer },
  );
  indexer.start();
  const headIs = (number: number) =>
    until(`block ${number}`, async () => (await store.head())?.number === number);
  await headIs(0);
  const stop = async () => {
    await indexer.stop();
    await store.close();
    await data.remove();
  };
  return { indexer, store, mine, headIs, stop };
}

test('a new head is indexed at once, whatever the poll interval', async () => {
  const { indexer, mine, headIs, stop } = await setUp();
  mine();
  indexer.headChanged();
  await headIs(1);
  await stop();
});

test('the error for a block that cannot be stored does not blame the nodes', async () => {
  const { indexer, store, mine, stop } = await setUp();
  mine();
  Object.assign(store, { apply: () => Promise.reject(new Error('the disk is read-only')) });
  await expect(indexer.ensure(1, 1)).rejects.toThrow(
    'block 1 is not in the index, and the server cannot add it now',
  );
  await stop();
});

test('a block above the head of the nodes is unavailable', async () => {
  const { indexer, mine, stop } = await setUp();
  mine();
  await indexer.ensure(1, 1);
  const unavailable = indexer.ensure(2, 3);
  await expect(unavailable).rejects.toBeInstanceOf(BlockUnavailableError);
  await expect(unavailable).rejects.toThrow('block 2 is not in the index, and no node returns it now');
  await stop();
});
