/** Index of final blocks in ClickHouse, shared by several servers. Its tables are append-only. */

export { CombinedTraceReader } from './combined/combinedTraceReader.ts';
export { CombinedTraceStore } from './combined/combinedTraceStore.ts';
export { BadTraceStore, TraceStoreUnavailable } from './connection/failures.ts';
export {
  migrateSharedTraces,
  openSharedTraces,
  type SharedTraces,
  verifySharedTraces,
} from './openSharedTraces.ts';
export type { SharedReader } from './sharedReader.ts';
export type { SharedWriter } from './writes/sharedWriter.ts';
