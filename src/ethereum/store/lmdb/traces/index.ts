/** The trace store on LMDB. */
export { NoIndexError } from './environment.ts';
export { openTraceReader, openTraceStore, type TraceStoreOptions } from './traceStore.ts';
export { verifyTraces } from './verifyTraces.ts';
