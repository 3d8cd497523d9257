import type { Address } from './trace.ts';

/** The widest range of blocks that one trace_filter may ask for, both ends counted (seed, section 8). */
export const MAX_RANGE_BLOCKS = 800;

/** The most traces that one trace_filter may ask for (seed, section 8). */
export const MAX_COUNT = 200;

/** How a trace is matched when both lists of addresses are given: by both sides, or by either. */
export type FilterMode = 'intersection' | 'union';

/** A trace_filter whose every member is settled: defaults filled in, tags resolved, limits checked. */
export interface TraceFilter {
  /** The first block, inclusive. */
  readonly fromBlock: number;
  /** The last block, inclusive. */
  readonly toBlock: number;
  /** Senders to match, any of them; empty for no restriction. */
  readonly fromAddresses: readonly Address[];
  /** Recipients to match, any of them; empty for no restriction. */
  readonly toAddresses: readonly Address[];
  readonly mode: FilterMode;
  /** How many matching traces are passed over first. */
  readonly after: number;
  /** How many traces are returned at the most. */
  readonly count: number;
}
