/** The index of traces in ClickHouse, which instances share; which of its rows count stands in PostgreSQL. */
export { BadTraceStoreUrl, TraceStoreUnavailable } from './failures.ts';
export { openClickHouseTraces } from './openClickHouseTraces.ts';
export type { ClickHouseTraceStore } from './traceStore.ts';
