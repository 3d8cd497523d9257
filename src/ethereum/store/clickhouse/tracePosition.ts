import type { Hash } from '../../traces/index.ts';

export interface TracePosition {
  readonly number: number;
  readonly traceIndex: number;
}

/** A block with the members that locate its chunks. */
export interface ChunkedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly attempt: number;
  readonly traces: number;
}
