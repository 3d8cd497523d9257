import type { RowReader } from '../connection/rowReader.ts';

/** Position of a trace in a block. */
export interface TracePlace {
  readonly number: number;
  readonly traceIndex: number;
}

/** Position of a trace, and the write whose rows contain it. */
export interface TracePosition extends TracePlace {
  readonly write: bigint;
}

/** Reads a value of type Array((number, trace_index, write)). */
export const readPlaces = (row: RowReader): TracePosition[] =>
  row.array(() => ({ number: row.uint32(), traceIndex: row.uint32(), write: row.bigUint64() }));
