import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

/** Holds the text of a few hundred traces, so that what is kept is overwritten all the time, also while it is used. */
const SMALL_CACHE_BYTES = 256 * 1024;

// A search that finds nothing writes no text.
traceStoreContract('lmdb with little memory', () => lmdbTraces({ cacheBytes: SMALL_CACHE_BYTES }), {
  ...EMBEDDED,
  without: ['long searches'],
});
