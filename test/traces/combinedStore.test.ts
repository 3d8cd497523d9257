import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  CombinedTraceStore,
  migrateSharedTraces,
  openSharedTraces,
  TraceStoreUnavailable,
} from '../../src/ethereum/store/shared/index.ts';
import { type Hash, indexBlock, MAX_COUNT, type TraceFilter } from '../../src/ethereum/traces/index.ts';
import { GrowingChain, shape } from '../contract/growingChain.ts';
import { lmdbTraces } from '../contract/lmdbTraces.ts';
import { compareSome } from '../contract/traceStore.ts';
import { ClickHouseServer, hasClickHouse, WITHOUT_CLICKHOUSE } from '../support/clickHouse.ts';
import { Random } from '../support/random.ts';
import { newChain } from '../support/sharedIndex.ts';

const MAX_BYTES = 64 * 1024 * 1024;
const KEPT_BLOCKS = 40;

describe.skipIf(!hasClickHouse)(`a local index in front of the shared one${WITHOUT_CLICKHOUSE}`, () => {
  let clickHouse: ClickHouseServer;
  beforeAll(async () => {
    clickHouse = await ClickHouseServer.start();
    await migrateSharedTraces(clickHouse.url());
  });
  afterAll(async () => {
    await clickHouse?.remove();
  });

  /**
   * A chain of 200 blocks from `start` on in a local index; the first 160 are final, and those from number `first` to
   * `moved` of the chain are in the shared index. The first blocks were indexed before the shared index was configured.
   */
  async function prepare({ moved = 160, first = 0, indexedBefore = 0, start = 1000 } = {}) {
    const identity = newChain();
    const folder = await lmdbTraces();
    const local = await folder.open();
    const traces = openSharedTraces(clickHouse.url());
    const [reader, writer] = [traces.reader(identity), traces.writer(identity)];
    await local.bindChain(identity);
    const store = new CombinedTraceStore({ keepBlocks: KEPT_BLOCKS }, { local, shared: () => reader });
    onTestFinished(async () => {
      await store.close();
      await traces.close();
      await folder.remove();
    });
    const chain = new GrowingChain(new Random(70), start);
    if (indexedBefore > 0) await chain.grow(local, indexedBefore);
    await chain.grow(store, 200 - indexedBefore);
    await store.apply({ blocks: [], finalizedNumber: start + 159 });
    const final = [...chain.blocks.values()].slice(first, moved);
    await writer.write(final.map(({ header, traces: list }) => indexBlock(header, list)));
    return { identity, local, reader, writer, store, chain };
  }
  const filterOf = (fromBlock: number, toBlock: number): TraceFilter => ({
    fromBlock,
    toBlock,
    fromAddresses: shape.addresses,
    toAddresses: [],
    mode: 'intersection',
    after: 0,
    count: MAX_COUNT,
  });

  it('removes local blocks only when they are final and the shared index has them', async () => {
    const { local, store, chain } = await prepare({ moved: 100 });
    await store.trim();
    expect(local.firstMissing(1000, 1199)).toBe(1000);
    expect(local.firstMissing(1100, 1199)).toBeUndefined();
    await store.trim();
    expect(local.firstMissing(1100, 1199)).toBeUndefined();
    expect(await store.firstMissing(1000, 1199)).toBeUndefined();
    await compareSome(store, chain, 40);
  });

  it('removes followed blocks below the first shared one, but keeps blocks that were indexed before', async () => {
    const followed = await prepare({ first: 100 });
    await followed.store.trim();
    expect(await followed.store.firstMissing(1000, 1199)).toBe(1000);
    expect(await followed.store.firstMissing(1100, 1199)).toBeUndefined();
    expect(followed.local.firstMissing(1100, 1199)).toBeUndefined();
    await followed.store.trim();
    expect(followed.local.firstMissing(1100, 1199)).toBe(1100);
    expect(await followed.store.firstMissing(1100, 1199)).toBeUndefined();

    const { store, chain } = await prepare({ first: 100, indexedBefore: 50 });
    await store.trim();
    await store.trim();
    expect(await store.firstMissing(1000, 1199)).toBeUndefined();
    await compareSome(store, chain, 20);
  });

  it('returns exact results while blocks are removed, added and reorganised', async () => {
    const { local, store, chain, writer } = await prepare();
    chain.finalized = 1159;
    for (let round = 0; round < 6; round++) {
      await Promise.all([store.trim(), compareSome(store, chain, 4)]);
      if (round === 0) expect(local.firstMissing(1000, 1199)).toBe(1000);
      await chain.grow(store, 20);
      await chain.reorganise(store);
      await chain.finalize(store);
      const start = (await store.head())?.number ?? 0;
      const final = [...chain.blocks.values()].filter(
        ({ header }) => header.number <= (chain.finalized ?? 0),
      );
      await writer.write(final.map(({ header, traces }) => indexBlock(header, traces)));
      expect(start).toBe(chain.next - 1);
      await compareSome(store, chain, 8);
    }
  });

  it('serves the newest blocks and keeps growing while ClickHouse is away', async () => {
    const { store, chain, reader } = await prepare();
    await store.trim();
    const asked = vi.spyOn(reader, 'filter');
    expect(store.filter(filterOf(1160, 1199), MAX_BYTES)).not.toBeInstanceOf(Promise);
    expect(asked).not.toHaveBeenCalled();
    await clickHouse.kill();
    await chain.grow(store, 5);
    expect(await store.filter(filterOf(1160, 1204), MAX_BYTES)).toBeDefined();
    await expect(Promise.resolve(store.filter(filterOf(1150, 1170), MAX_BYTES))).rejects.toThrow(
      TraceStoreUnavailable,
    );
    await store.trim();
    await clickHouse.restart();
    await compareSome(store, chain, 10);
  });

  it('finds no unknown transaction on a young chain whose blocks are all in the local index', async () => {
    const { store } = await prepare({ start: 0 });
    const unknown = new Random(9).hex(32) as Hash;
    expect(await store.transactionTraces(unknown, { maxBytes: MAX_BYTES })).toBeUndefined();
    expect(await store.transactionPosition(unknown, {})).toBeUndefined();
    await store.trim();
    expect(await store.transactionTraces(unknown, { maxBytes: MAX_BYTES })).toBeUndefined();
  });

  it('fails instead of joining two chains', async () => {
    const { store, identity, chain } = await prepare({ moved: 160 });
    await store.trim();
    const traces = openSharedTraces(clickHouse.url());
    const writer = traces.writer(identity);
    await writer.rewind(1149, 1159);
    const fork = new GrowingChain(new Random(71), 1000);
    for (const [number, block] of chain.blocks) if (number < 1150) fork.put(block);
    fork.next = 1150;
    const folder = await lmdbTraces();
    const other = await folder.open();
    await fork.grow(other, 10);
    const forked = [...fork.blocks.values()].filter(({ header }) => header.number >= 1150);
    await writer.write(forked.map(({ header, traces: list }) => indexBlock(header, list)));
    for (const range of [filterOf(1140, 1170), filterOf(1140, 1159)])
      await expect(Promise.resolve(store.filter(range, MAX_BYTES))).rejects.toThrow(/in the local index/);
    await expect(
      Promise.resolve(
        store.addressSummary({ address: shape.addresses[0] as never, fromBlock: 1100, toBlock: 1190 }),
      ),
    ).rejects.toThrow(/in the local index/);
    await other.close();
    await folder.remove();
    await traces.close();
  });
});
