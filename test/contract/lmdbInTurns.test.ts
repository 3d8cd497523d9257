import { lmdbTraces } from './lmdbTraces.ts';
import { traceStoreContract } from './traceStore.ts';

traceStoreContract('lmdb, searching a little in each turn', () => lmdbTraces({ workPerTurn: 40 }));
