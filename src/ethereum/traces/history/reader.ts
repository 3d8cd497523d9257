import type { TraceAttributes } from '../chunk/attributes.ts';
import type { InternalFrame } from '../chunk/internalFrame.ts';
import type { PostingList } from '../postings/list.ts';
import type { PostingTerm, Side, StoredBlock } from '../store.ts';
import type { BlockRange, Direction, Order, Sides } from './query.ts';

/**
 * How much one question may look at before it is answered with what was found, in positions of posting lists: some
 * milliseconds, in which nobody else is answered.
 */
const MAX_WORK = 40_000;

/** What posting lists of addresses are found by; `all` for the traces of everybody. */
export type Terms = readonly PostingTerm[] | 'all';

/** What is read for a history, in positions that take as long. */
export const COST = {
  /** A posting list that is opened, whether there is one or not. */
  list: 30,
  /** A run of the directory that is asked for an address. */
  run: 30,
  /** The attributes of a block. */
  attributes: 12,
  /** A chunk that is read for the value of a trace. */
  chunk: 60,
} as const;

/** What is left of the work that one question may make. */
export class WorkLeft {
  #left: number;

  constructor(work = MAX_WORK) {
    this.#left = work;
  }

  get isOver(): boolean {
    return this.#left <= 0;
  }

  spend(work: number): void {
    this.#left -= work;
  }

  /** As much may be done again, in another turn of the event loop. */
  renew(work: number): void {
    this.#left = work;
  }
}

/** What a history is read from; an engine gives it over one unchanging state of the index. */
export interface HistoryReader {
  block(blockNumber: number): StoredBlock | undefined;
  /** The lowest block; undefined where there is none. */
  firstBlock(): number | undefined;
  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined;
  /** All traces of a segment. */
  allTraces(segment: number): PostingList | undefined;
  /** The attributes of all traces of a block, by their indexes; good until the next are asked for. */
  attributes(blockNumber: number, work: WorkLeft): ArrayLike<TraceAttributes>;
  /** The value of a trace. */
  value(blockNumber: number, traceIndex: number): bigint;
  /** A trace that is in a transaction. */
  frame(blockNumber: number, traceIndex: number): InternalFrame;
  /**
   * The segments from `first` to `last` in which one of the addresses may have a trace, in an order. It may give some in which
   * none has, and never leaves one out.
   */
  segmentsWith(asked: SegmentsAsked, work: WorkLeft): Iterable<FoundSegment>;
  /** The segments from the last down to the first that may have an address. */
  countsOf(
    term: PostingTerm,
    segments: { readonly first: number; readonly last: number },
    work: WorkLeft,
  ): Iterable<SegmentCounts>;
  /**
   * The blocks of a range that are missing, ascending: the first `max` ranges in the order, and where there are more the last block
   * in that order that they tell about.
   */
  missing(range: BlockRange, order: Order, max: number): Missing;
}

/** How often a segment has an address, where that is known: by side and then by the number of the type in TRACE_TYPES. */
export interface SegmentCounts {
  readonly segment: number;
  readonly counts: Readonly<Record<Sides, ArrayLike<number>>> | undefined;
}

/** All positions of a term on a side, ascending, or the term where they were not read yet: there may be none then. */
export type FoundList = Uint32Array | PostingTerm;

/** The lists that may be there of what was asked for, by side; none where everybody's traces were. */
export interface FoundSegment {
  readonly segment: number;
  readonly from: readonly FoundList[];
  readonly to: readonly FoundList[];
}

export interface SegmentsAsked {
  /** `all` for all segments that have blocks. */
  readonly terms: Terms;
  readonly direction: Direction;
  readonly first: number;
  readonly last: number;
  readonly order: Order;
}

export interface Missing {
  readonly ranges: readonly BlockRange[];
  readonly toldUpTo?: number;
}
