import { lmdbTraces } from './lmdbTraces.ts';
import { traceStoreContract } from './traceStore.ts';

/** Holds the text of a few hundred traces, so that what is kept is overwritten all the time, also while it is used. */
const SMALL_CACHE_BYTES = 256 * 1024;

traceStoreContract('lmdb with little memory', () => lmdbTraces({ cacheBytes: SMALL_CACHE_BYTES }));
