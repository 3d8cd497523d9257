import type { Address, Hash } from './trace.ts';

/** Maximum number of blocks in the range of a trace_filter, both ends included (docs/internals/decisions/gateway.md). */
export const MAX_RANGE_BLOCKS = 800;

/** Maximum `count` of a trace_filter (docs/internals/decisions/gateway.md). */
export const MAX_COUNT = 200;

/** For a filter with senders and recipients: `intersection` requires a match of both, `union` of at least one. */
export type FilterMode = 'intersection' | 'union';

/** A trace_filter with defaults applied, tags resolved and limits checked. */
export interface TraceFilter {
  /** Inclusive, like `toBlock`. */
  readonly fromBlock: number;
  readonly toBlock: number;
  /** A trace must have one of these senders; empty for any sender. */
  readonly fromAddresses: readonly Address[];
  /** A trace must have one of these recipients; empty for any recipient. */
  readonly toAddresses: readonly Address[];
  readonly mode: FilterMode;
  /** Number of matching traces to skip. */
  readonly after: number;
  /** Maximum number of traces to return. */
  readonly count: number;
  /** True if all matches are required: more than `count` matches cause a TooManyTracesError. */
  readonly wantsAll?: boolean | undefined;
  /** Hash of the range's only block. If the index has another block at its height, the block counts as missing. */
  readonly blockHash?: Hash | undefined;
}

/** Thrown if more traces match than a result may contain. The search stops at the first match above the limit. */
export class TooManyTracesError extends Error {
  override readonly name = 'TooManyTracesError';
  readonly limit: number;

  constructor(limit: number) {
    super(`more than ${limit} traces match`);
    this.limit = limit;
  }
}

/** Returns the number of matches to search for: one more than `count` if a match above `count` is an error. */
export const searchLimit = ({ count, wantsAll }: TraceFilter): number =>
  wantsAll === true ? count + 1 : count;

/** Throws TooManyTracesError if a search found more matches than the filter allows. */
export function assertNotTooMany({ count, wantsAll }: TraceFilter, found: number): void {
  if (wantsAll === true && found > count) throw new TooManyTracesError(count);
}
