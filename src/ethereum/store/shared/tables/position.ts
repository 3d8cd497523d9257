/** Position of a trace in a block, and the write whose rows contain it. */
export interface TracePosition {
  readonly number: number;
  readonly traceIndex: number;
  readonly write: bigint;
}
