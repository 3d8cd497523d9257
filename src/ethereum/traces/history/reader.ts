import type { TraceAttributes } from '../chunk/attributes.ts';
import type { PostingList } from '../postings/list.ts';
import type { PostingTerm, Side, StoredBlock } from '../store.ts';
import type { AddressSide, BlockRange, Direction, Order } from './query.ts';

/** Default work budget, as a number of list positions. A query that uses it up blocks the event loop for some ms. */
const MAX_WORK = 40_000;

/** Terms whose posting lists are read, or `all` to read the list of all traces. */
export type Terms = readonly PostingTerm[] | 'all';

/** Costs of reads from the index. The unit is the cost of reading one position of a posting list. */
export const COST = {
  /** Lookup of a posting list, whether it exists or not. */
  list: 30,
  /** Lookup of an address in one run of the directory. */
  run: 30,
  attributes: 12,
  /** Reading a chunk for the value of a trace. */
  chunk: 60,
} as const;

/** The work that a query, or one time slice of it, may still do. The unit is that of {@link COST}. */
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

/** Read access to the index for histories. The storage engine implements it; all reads see one snapshot. */
export interface HistoryReader {
  block(blockNumber: number): StoredBlock | undefined;
  /** Returns the number of the lowest block of the index; undefined if the index is empty. */
  firstBlock(): number | undefined;
  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined;
  allTraces(segment: number): PostingList | undefined;
  /** Returns the attributes of a block's traces, in order. The result is valid until the next call. */
  attributes(blockNumber: number): ArrayLike<TraceAttributes>;
  /** Returns the value in the action of a trace, in wei. */
  value(blockNumber: number, traceIndex: number): bigint;
  /** Returns the chunk that contains a trace. It is valid until the next read. */
  chunk(blockNumber: number, traceIndex: number): Uint8Array;
  /**
   * Returns every segment that may contain traces with the terms, in the given order. If `work` is used up, the last
   * segment is the one to continue with.
   */
  segmentsWith(asked: SegmentsQuery, work: WorkBudget): Iterable<FoundSegment>;
  /** Returns every segment that may contain traces of an address, from `last` down to `first`. */
  countsOf(
    term: PostingTerm,
    segments: { readonly first: number; readonly last: number },
    work: WorkBudget,
  ): Iterable<SegmentCounts>;
  /** Returns the first `max` ranges of missing or unavailable blocks in the given order. */
  missing(range: BlockRange, order: Order, max: number): Missing;
}

/** Number of traces per type with an address as sender (`from`) and as recipient (`to`); undefined if unknown. */
export interface SegmentCounts {
  readonly segment: number;
  readonly counts: Readonly<Record<AddressSide, ArrayLike<number>>> | undefined;
}

/** The positions of a posting list, ascending; or its term, if the list was not read yet and may not exist. */
export type FoundList = Uint32Array | PostingTerm;

/** A segment and its lists of the wanted senders and recipients. Without lists if the query is for all traces. */
export interface FoundSegment {
  readonly segment: number;
  readonly from: readonly FoundList[];
  readonly to: readonly FoundList[];
}

export interface SegmentsQuery {
  /** Terms that a segment must contain; `all` for every segment with blocks. */
  readonly terms: Terms;
  readonly direction: Direction;
  /** Indexes in TRACE_TYPES of the types of traces to find. A segment without these types may be left out. */
  readonly types: readonly number[];
  readonly first: number;
  readonly last: number;
  readonly order: Order;
}

export interface Missing {
  readonly ranges: readonly BlockRange[];
  /** Last block before the first range that was left out; absent if all ranges are listed. */
  readonly coveredUpTo?: number;
}
