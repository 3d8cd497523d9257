import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { traceStoreContract } from '../../../../../test/contract/traceStore.ts';
import { lateStore } from '../../../../../test/support/lateStore.ts';
import { Random } from '../../../../../test/support/random.ts';
import { blockOfTrees, randomTree } from '../../../../../test/support/syntheticTree.ts';
import { type Hash, indexBlock } from '../../../traces/index.ts';
import { IndexState } from './indexState.ts';
import { openTraceStore, type TraceStoreOptions } from './traceStore.ts';

/** Holds the text of a few hundred traces, so that what is kept is overwritten all the time, also while it is used. */
const SMALL_CACHE_BYTES = 256 * 1024;

/** Nearly every change has to be merged into the lists on disk, some lists at a time. */
const MERGED_ALWAYS = { maxRecentPositions: 50, listsPerMerge: 7 };

const prepare = async (options?: TraceStoreOptions) => {
  const path = await mkdtemp(join(tmpdir(), 'floodgate-traces-'));
  return {
    open: async () => openTraceStore(path, options),
    remove: () => rm(path, { recursive: true, force: true }),
  };
};

traceStoreContract('lmdb', () => prepare());
traceStoreContract('lmdb with little memory', () => prepare({ cacheBytes: SMALL_CACHE_BYTES }));
traceStoreContract('lmdb, merging all the time', () => prepare(MERGED_ALWAYS));
traceStoreContract('an engine that answers late', async () => {
  const { open, remove } = await prepare();
  return { open: async () => lateStore(await open(), new Random(1)), remove };
});

test('one frame of a transaction with 20,000 is found with as many reads as halving them takes', async () => {
  const frames = 20_000;
  // And the chunk of the root frame, its block, its posting list, and the chunk of the frame once more.
  const maxReads = Math.ceil(Math.log2(frames)) + 6;
  const { open, remove } = await prepare();
  const store = await open();
  const random = new Random(20);
  const trees = [randomTree(random, 3, 1), randomTree(random, frames, 300), randomTree(random, 3, 1)];
  const { header, traces } = blockOfTrees(random, 9, trees);
  await store.apply({ blocks: [indexBlock(header, traces)] });
  const hash = header.transactionHashes[1] as Hash; // of the second of three trees
  const ofHash = traces.filter(({ transactionHash }) => transactionHash === hash);
  const reads = vi.spyOn(IndexState.prototype, 'read');
  const parses = vi.spyOn(JSON, 'parse');
  try {
    let most = 0;
    for (let i = 0; i < frames; i += 997) {
      reads.mockClear();
      const path = ofHash[i]?.traceAddress ?? [];
      expect(await store.transactionTrace(hash, path, 10_000)).toBeInstanceOf(Buffer);
      expect(await store.transactionTrace(hash, [...path, 2 ** 20], 10_000)).toBeNull();
      most = Math.max(most, reads.mock.calls.length / 2);
    }
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(maxReads);
    expect(parses).not.toHaveBeenCalled();
  } finally {
    vi.restoreAllMocks();
    await store.close();
    await remove();
  }
});
