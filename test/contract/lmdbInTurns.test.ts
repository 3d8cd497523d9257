import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

// Only filter searches are split into time slices.
traceStoreContract('LMDB, searching in short time slices', () => lmdbTraces({ workPerTurn: 40 }), {
  ...EMBEDDED,
  without: ['shapes', 'histories'],
});
