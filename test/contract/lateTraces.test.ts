import { delayedStore } from '../support/delayedStore.ts';
import { Random } from '../support/random.ts';
import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

// The embedded engine with delays: only the order of events differs.
traceStoreContract(
  'LMDB with random delays',
  async () => {
    const { open, remove } = await lmdbTraces();
    return { open: async () => delayedStore(await open(), new Random(1)), remove };
  },
  { ...EMBEDDED, every: 5, without: ['shapes', 'long searches'] },
);
