import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

/** Nearly every change has to be merged into the lists on disk, some lists at a time. */
const MERGED_ALWAYS = { maxRecentPositions: 50, listsPerMerge: 7 };

// Frames are found in the traces of their block, which no merge touches; the block, in a list.
traceStoreContract('lmdb, merging all the time', () => lmdbTraces(MERGED_ALWAYS), {
  ...EMBEDDED,
  without: ['shapes'],
});
