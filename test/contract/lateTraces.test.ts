import { lateStore } from '../support/lateStore.ts';
import { Random } from '../support/random.ts';
import { lmdbTraces } from './lmdbTraces.ts';
import { traceStoreContract } from './traceStore.ts';

traceStoreContract('an engine that answers late', async () => {
  const { open, remove } = await lmdbTraces();
  return { open: async () => lateStore(await open(), new Random(1)), remove };
});
