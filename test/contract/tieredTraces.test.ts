import { TieredTraceStore } from '../../src/ethereum/store/tiered/index.ts';
import { lateStore } from '../support/lateStore.ts';
import { Random } from '../support/random.ts';
import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

/** Few enough that the index of the newest blocks is begun anew many times in each test. */
const KEPT_BLOCKS = 15;

const prepare = async () => {
  const { open, remove } = await lmdbTraces();
  return {
    remove,
    async open() {
      const shared = lateStore(await open(), new Random(2));
      const openRecent = async () => {
        const recent = await lmdbTraces();
        const store = await recent.open();
        return {
          store,
          async discard() {
            await store.close();
            await recent.remove();
          },
        };
      };
      const failed = (error: unknown): never => {
        throw error;
      };
      return new TieredTraceStore({ keepBlocks: KEPT_BLOCKS }, { shared, openRecent, failed });
    },
  };
};

// Both are the embedded engine: it finds frames and ends searches, and this one chooses which of the two to ask.
traceStoreContract('an index of the newest blocks before a shared one that answers late', prepare, {
  ...EMBEDDED,
  every: 2,
  without: ['shapes', 'long searches'],
});
