import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { traceStoreContract } from '../../../../test/contract/traceStore.ts';
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
