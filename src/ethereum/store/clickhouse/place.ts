import type { Hash } from '../../traces/index.ts';

/** Where a trace stands. */
export interface Place {
  readonly number: number;
  readonly traceIndex: number;
}

/** A block whose chunks are read. */
export interface ChunkedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly attempt: number;
  readonly traces: number;
}
