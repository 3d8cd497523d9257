import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { traceStoreContract } from '../../../../test/contract/traceStore.ts';
import { openTraceStore } from './traceStore.ts';

/** Holds the text of a few hundred traces, so that what is kept is overwritten all the time, also while it is used. */
const SMALL_CACHE_BYTES = 256 * 1024;

const prepare = async (cacheBytes?: number) => {
  const path = await mkdtemp(join(tmpdir(), 'floodgate-traces-'));
  return {
    open: async () => openTraceStore(path, cacheBytes),
    remove: () => rm(path, { recursive: true, force: true }),
  };
};

traceStoreContract('lmdb', () => prepare());
traceStoreContract('lmdb with little memory', () => prepare(SMALL_CACHE_BYTES));
