import { lmdbTraces } from './lmdbTraces.ts';
import { traceStoreContract } from './traceStore.ts';

/** Nearly every change has to be merged into the lists on disk, some lists at a time. */
const MERGED_ALWAYS = { maxRecentPositions: 50, listsPerMerge: 7 };

traceStoreContract('lmdb, merging all the time', () => lmdbTraces(MERGED_ALWAYS));
