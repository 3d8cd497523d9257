/** Index of traces in ClickHouse, shared by several instances. PostgreSQL records the valid blocks. */
export { BadTraceStoreUrl, TraceStoreUnavailable } from './connection/failures.ts';
export { openClickHouseTraces } from './openClickHouseTraces.ts';
export type { ClickHouseTraceStore } from './traceStore.ts';
