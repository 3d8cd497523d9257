import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

/** Nearly every change is merged into the lists on disk, a few lists at a time. */
const MERGED_ALWAYS = { maxRecentPositions: 50, listsPerMerge: 7 };

// Frames are found in the traces of their block, which no merge changes.
traceStoreContract('LMDB, merging after nearly every change', () => lmdbTraces(MERGED_ALWAYS), {
  ...EMBEDDED,
  without: ['shapes'],
});
