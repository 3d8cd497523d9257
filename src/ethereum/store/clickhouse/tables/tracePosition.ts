import type { Hash } from '../../../traces/index.ts';

export interface TracePosition {
  readonly number: number;
  readonly traceIndex: number;
}

/** A block, with the attempt number and the trace count by which its chunks are found in ClickHouse. */
export interface ChunkedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly attempt: number;
  readonly traces: number;
}
