import type { Address, Hash } from './trace.ts';

/** Maximum number of blocks in a trace_filter's range, both ends included (docs/internals/decisions/gateway.md). */
export const MAX_RANGE_BLOCKS = 800;

/** Maximum `count` of a trace_filter (docs/internals/decisions/gateway.md). */
export const MAX_COUNT = 200;

/** Whether sender and recipient must both match (`intersection`), or at least one of them (`union`). */
export type FilterMode = 'intersection' | 'union';

/** Parameters of a trace_filter request. Defaults and block tags are already resolved, and limits are checked. */
export interface TraceFilter {
  /** First block of the range. `toBlock` is the last block. */
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Senders of which a trace must have one; empty for any sender. */
  readonly fromAddresses: readonly Address[];
  /** Recipients of which a trace must have one; empty for any recipient. */
  readonly toAddresses: readonly Address[];
  readonly mode: FilterMode;
  /** Number of matching traces to skip. */
  readonly after: number;
  /** Maximum number of traces to return. */
  readonly count: number;
  /** True if the request is for all matches. More than `count` matches then cause a TooManyTracesError. */
  readonly wantsAll?: boolean | undefined;
  /** Hash of the only block of the range. If the index has a block of another hash, the block counts as missing. */
  readonly blockHash?: Hash | undefined;
}

/** Thrown if more traces match than a result may contain. The number of matches is then unknown. */
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
