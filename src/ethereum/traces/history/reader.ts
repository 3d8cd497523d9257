import type { TraceAttributes } from '../chunk/attributes.ts';
import type { InternalFrame } from '../chunk/internalFrame.ts';
import type { PostingList } from '../postings/list.ts';
import type { PostingTerm, Side, StoredBlock } from '../store.ts';
import type { AddressSide, BlockRange, Direction, Order } from './query.ts';

/** Work budget of one query, as a number of list positions. All of it blocks the event loop for some milliseconds. */
const MAX_WORK = 40_000;

/** Terms of the posting lists to read; `all` for every trace. */
export type Terms = readonly PostingTerm[] | 'all';

/** Cost of reads; the unit is the cost of one list position. */
export const COST = {
  /** Lookup of a posting list, whether it exists or not. */
  list: 30,
  /** Lookup of an address in one run of the directory. */
  run: 30,
  attributes: 12,
  /** Reading a chunk for the value of a trace. */
  chunk: 60,
} as const;

/** Remaining work budget of one query. */
export class WorkBudget {
  #left: number;

  constructor(work = MAX_WORK) {
    this.#left = work;
  }

  get isExhausted(): boolean {
    return this.#left <= 0;
  }

  spend(work: number): void {
    this.#left -= work;
  }

  /** Resets the budget for another iteration of the event loop. */
  reset(work: number): void {
    this.#left = work;
  }
}

/** Index access for histories; the storage engine provides it on a consistent snapshot. */
export interface HistoryReader {
  block(blockNumber: number): StoredBlock | undefined;
  /** Returns the number of the lowest block; undefined if the index is empty. */
  firstBlock(): number | undefined;
  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined;
  allTraces(segment: number): PostingList | undefined;
  /** Returns the attributes of a block's traces by trace index. The result is valid until the next call. */
  attributes(blockNumber: number): ArrayLike<TraceAttributes>;
  /** Returns the value of a trace. */
  value(blockNumber: number, traceIndex: number): bigint;
  /** Returns a trace that belongs to a transaction. */
  frame(blockNumber: number, traceIndex: number): InternalFrame;
  /** Returns the segments that may contain traces of the addresses, in the given order. Never misses one. */
  segmentsWith(asked: SegmentsQuery, work: WorkBudget): Iterable<FoundSegment>;
  /** Returns the segments that may contain the address, from `last` down to `first`. */
  countsOf(
    term: PostingTerm,
    segments: { readonly first: number; readonly last: number },
    work: WorkBudget,
  ): Iterable<SegmentCounts>;
  /** Returns the first `max` missing ranges of blocks. If there are more, `coveredUpTo` is the last block covered. */
  missing(range: BlockRange, order: Order, max: number): Missing;
}

/** Number of an address's traces in a segment, if known: by side, and by index in TRACE_TYPES. */
export interface SegmentCounts {
  readonly segment: number;
  readonly counts: Readonly<Record<AddressSide, ArrayLike<number>>> | undefined;
}

/** Positions of a list, ascending, or the term of the list. The list was then not read yet, and may not exist. */
export type FoundList = Uint32Array | PostingTerm;

/** Lists of senders and of recipients that may exist in a segment; empty if the query is for all traces. */
export interface FoundSegment {
  readonly segment: number;
  readonly from: readonly FoundList[];
  readonly to: readonly FoundList[];
}

export interface SegmentsQuery {
  /** `all` for every segment with blocks. */
  readonly terms: Terms;
  readonly direction: Direction;
  readonly first: number;
  readonly last: number;
  readonly order: Order;
}

export interface Missing {
  readonly ranges: readonly BlockRange[];
  readonly coveredUpTo?: number;
}
