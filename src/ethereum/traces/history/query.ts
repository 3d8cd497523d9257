import type { TraceKind } from '../chunk/attributes.ts';
import type { InternalFrame } from '../chunk/internalFrame.ts';
import type { Address, Hash } from '../trace.ts';

/** Addresses that one question is about. */
export const MAX_HISTORY_ADDRESSES = 20;

/** Traces of a page. */
export const MAX_HISTORY_LIMIT = 200;

export type Direction = 'from' | 'to' | 'either';
export type Order = 'asc' | 'desc';

/** What a trace must be to be in a history. */
export interface HistoryFilter {
  /** Left out: any. */
  readonly kinds?: readonly TraceKind[];
  /** Wei that it moved, at least. */
  readonly minValue?: bigint;
  /** Whether it stands below the root of a transaction. A reward is neither a root nor below one. */
  readonly internal?: boolean;
  /** Whether it failed, or stands inside a frame that did. */
  readonly failed?: boolean;
  /** Of the kind `call` only those that carry value, also where they failed; other kinds are not touched by it. */
  readonly callsCarryValue?: true;
}

/** A place among all traces: that of the one that was looked at last. */
export interface HistoryPlace {
  readonly blockNumber: number;
  readonly traceIndex: number;
  /** The block's hash; left out where the index did not have it. */
  readonly blockHash?: Hash;
}

/** Whose traces: those of some addresses, or of everybody. */
export type Addresses = readonly Address[] | 'all';

/** What is asked about the history of addresses, with every tag resolved. */
export interface HistoryQuery {
  readonly addresses: Addresses;
  readonly direction: Direction;
  /** Left out: the lowest block of the index. */
  readonly fromBlock?: number;
  readonly toBlock: number;
  readonly order: Order;
  readonly filter: HistoryFilter;
  readonly limit: number;
  /** Goes on behind this place, in the order of the question. */
  readonly behind?: HistoryPlace;
}

/** Both ends are included. */
export interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** A page of a history; its traces are written elsewhere. */
export interface HistoryPage {
  /** What was asked for, every bound settled. */
  readonly range: BlockRange;
  /** Where the next page goes on; undefined where this is the last. A page may be short, or empty, and not be the last. */
  readonly next: HistoryPlace | undefined;
  /** Blocks that this page went over and that the index does not have, ascending. */
  readonly missing: readonly BlockRange[];
}

export type Sides = 'from' | 'to';

export interface SummaryQuery {
  readonly address: Address;
  /** Left out: the lowest block of the index. */
  readonly fromBlock?: number;
  readonly toBlock: number;
}

/** How many traces of each type, by the number of the type in TRACE_TYPES. */
export type TypeCounts = readonly number[];

/** What the history of an address comes to. Figures are exact for the range that stands beside them; undefined where it is no block. */
export interface HistorySummary {
  readonly range: BlockRange;
  /** Undefined where there is no trace. */
  readonly firstBlock: number | undefined;
  readonly lastBlock: number | undefined;
  readonly counts: {
    readonly by: Readonly<Record<Sides, TypeCounts>>;
    readonly range: BlockRange | undefined;
  };
  /** Wei that was paid to it (`to`), and that it paid (`from`). */
  readonly value: { readonly by: Readonly<Record<Sides, bigint>>; readonly range: BlockRange | undefined };
  /** Blocks of the range that the index does not have, ascending; of the highest, where there are too many. */
  readonly missing: readonly BlockRange[];
}

/**
 * What explorers call an internal transaction: a frame below the root of a transaction that carries value, creates a contract or
 * destroys one.
 */
export interface InternalTransaction extends InternalFrame {
  readonly blockNumber: number;
  /** Of its block, seconds since 1970. */
  readonly timestamp: number;
  /** Whether it failed, or stands inside a frame that did. */
  readonly hasFailed: boolean;
}

/** Which internal transactions are asked for, with every tag resolved. */
export interface InternalTransactionsQuery extends BlockRange {
  /** Left out: everybody's. */
  readonly address?: Address;
  readonly direction: Direction;
  readonly order: Order;
  /** How many are gone over, at most. */
  readonly limit: number;
  /** The first so many of them are passed over, and not given. */
  readonly skip: number;
  readonly behind?: HistoryPlace;
}

export interface InternalTransactionsPage extends Omit<HistoryPage, 'range'> {
  readonly transactions: readonly InternalTransaction[];
  /** How many there were, those included that were passed over. */
  readonly found: number;
}

/** The block that a page ended in was replaced by another since: the page before may have been of another chain. */
export class BlockReplacedError extends Error {
  override readonly name = 'BlockReplacedError';
  readonly blockNumber: number;

  constructor(blockNumber: number) {
    super(`block ${blockNumber} was replaced by another`);
    this.blockNumber = blockNumber;
  }
}
