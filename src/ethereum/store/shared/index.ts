/** Index of final blocks in ClickHouse, shared by several servers. Its tables are append-only. */

export { CombinedTraceStore } from './combined/combinedTraceStore.ts';
export { BadTraceStore, TraceStoreUnavailable } from './connection/failures.ts';
export { migrateSharedTraces, openSharedTraces } from './openSharedTraces.ts';
export type { SharedReader } from './sharedReader.ts';
export type { SharedWriter } from './writes/sharedWriter.ts';
