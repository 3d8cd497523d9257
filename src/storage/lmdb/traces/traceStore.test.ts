import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { traceStoreContract } from '../../../../test/contract/traceStore.ts';
import { openTraceStore } from './traceStore.ts';

traceStoreContract('lmdb', async () => {
  const path = await mkdtemp(join(tmpdir(), 'floodgate-traces-'));
  return {
    open: async () => openTraceStore(path),
    remove: () => rm(path, { recursive: true, force: true }),
  };
});
