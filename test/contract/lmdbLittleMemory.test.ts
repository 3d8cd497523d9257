import { lmdbTraces } from './lmdbTraces.ts';
import { EMBEDDED, traceStoreContract } from './traceStore.ts';

/**
 * Enough for the text of a few hundred traces, so that cached text is overwritten all the time, also while it is
 * used.
 */
const SMALL_CACHE_BYTES = 256 * 1024;

// A search without matches writes no text.
traceStoreContract('LMDB with a small cache', () => lmdbTraces({ cacheBytes: SMALL_CACHE_BYTES }), {
  ...EMBEDDED,
  without: ['long searches'],
});
