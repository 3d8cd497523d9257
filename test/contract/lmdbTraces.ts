import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTraceStore, type TraceStoreOptions } from '../../src/ethereum/store/lmdb/traces/index.ts';

/** Creates a folder in which the embedded engine can be opened repeatedly. */
export async function lmdbTraces(options?: TraceStoreOptions) {
  const path = await mkdtemp(join(tmpdir(), 'floodgate-traces-'));
  return {
    path,
    open: async () => openTraceStore(path, options),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
