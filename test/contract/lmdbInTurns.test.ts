import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

// Filters alone are searched in turns.
traceStoreContract('lmdb, searching a little in each turn', () => lmdbTraces({ workPerTurn: 40 }), {
  ...EMBEDDED,
  without: ['shapes', 'histories'],
});
