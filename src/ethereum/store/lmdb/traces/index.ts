/** Trace store in LMDB. */

export { NoIndexError } from './environment.ts';
export {
  openTraceReader,
  openTraceStore,
  type TraceStoreOptions,
} from './traceStore.ts';
export { type VerifiedShare, verifyTraces, WHOLE } from './verifyTraces.ts';
