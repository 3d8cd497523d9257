import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openTraceReader, openTraceStore } from '../../src/ethereum/store/lmdb/traces/index.ts';
import { type Hash, indexBlock } from '../../src/ethereum/traces/index.ts';
import { StoreFile } from '../../src/platform/storeFile/index.ts';
import { Random } from '../support/random.ts';
import { smallFileSystem } from '../support/smallFileSystem.ts';
import { type SyntheticBlock, syntheticAddresses, syntheticBlock } from '../support/syntheticChain.ts';

const shape = { addresses: syntheticAddresses(20), maxTransactions: 40, maxFrames: 8 };

it('the trace store rejects blocks while the disk is full and accepts them when space is freed', async (context) => {
  const { folder } = smallFileSystem(context, 24 * 1024 * 1024);
  const filler = join(folder, 'filler');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 8 * 1024 * 1024));
  const store = openTraceStore(join(folder, 'traces'));
  const random = new Random(31);
  const kept: SyntheticBlock[] = [];
  let next = syntheticBlock(random, shape, { number: 0 });
  const apply = () => store.apply({ blocks: [indexBlock(next.header, next.traces)] });
  const grow = async (): Promise<void> => {
    await apply();
    kept.push(next);
    next = syntheticBlock(random, shape, { number: kept.length, parentHash: next.header.hash as Hash });
  };
  await expect(
    (async () => {
      for (;;) await grow();
    })(),
  ).rejects.toThrow(/^the store in .*traces cannot be written: .*\. Check the disk and its free space$/);
  for (let i = 0; i < 5; i++) await expect(apply()).rejects.toThrow();
  rmSync(filler);
  await grow();
  for (const { header, traces } of [kept[0], kept.at(-2), kept.at(-1)] as SyntheticBlock[])
    expect(JSON.parse(String(await store.blockTraces(header.number, 1e8)))).toEqual(traces);
  await store.close();
});

it('the trace store can be closed while the disk is full, and has all blocks that it accepted', async (context) => {
  const { folder } = smallFileSystem(context, 400 * 1024);
  const store = openTraceStore(join(folder, 'traces'));
  const random = new Random(31);
  let [accepted, parentHash] = [0, undefined as Hash | undefined];
  const grow = async (): Promise<void> => {
    const { header, traces } = syntheticBlock(random, shape, { number: accepted, parentHash });
    await store.apply({ blocks: [indexBlock(header, traces)] });
    [accepted, parentHash] = [accepted + 1, header.hash];
  };
  await expect(
    (async () => {
      for (;;) await grow();
    })(),
  ).rejects.toThrow(/cannot be written/);
  await store.close();
  const reader = openTraceReader(join(folder, 'traces'));
  expect((await reader.head())?.number).toBe(accepted - 1);
  await reader.close();
});

it('the error for a copied store on a full disk names its folder', (context) => {
  const { folder } = smallFileSystem(context, 64 * 1024);
  writeFileSync(join(folder, 'data.mdb'), 'copied');
  const { bavail, bsize } = statfsSync(folder);
  writeFileSync(join(folder, 'filler'), Buffer.alloc(bavail * bsize));
  const copied = new StoreFile(folder, { isVerified: true });
  expect(() => copied.opened()).toThrow(`the store in ${folder} cannot be written: ENOSPC`);
});
