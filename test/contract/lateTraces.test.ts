import { lateStore } from '../support/lateStore.ts';
import { Random } from '../support/random.ts';
import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

// The embedded engine answers: what differs is what comes in between.
traceStoreContract(
  'an engine that answers late',
  async () => {
    const { open, remove } = await lmdbTraces();
    return { open: async () => lateStore(await open(), new Random(1)), remove };
  },
  { ...EMBEDDED, every: 5, without: ['shapes', 'long searches'] },
);
