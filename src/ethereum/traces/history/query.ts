import type { TraceKind } from '../chunk/attributes.ts';
import type { InternalFrame } from '../chunk/internalFrame.ts';
import type { Address, Hash } from '../trace.ts';

/** Maximum number of addresses per query. */
export const MAX_HISTORY_ADDRESSES = 20;

/** Maximum number of traces per page. */
export const MAX_HISTORY_LIMIT = 200;

export type Direction = 'from' | 'to' | 'either';
export type Order = 'asc' | 'desc';

/** Conditions on the traces of a history. */
export interface HistoryFilter {
  /** Default: any kind. */
  readonly kinds?: readonly TraceKind[];
  /** Minimum transferred value in wei. */
  readonly minValue?: bigint;
  /** True for frames below a root, false for roots. A reward is neither. */
  readonly internal?: boolean;
  /** Whether the trace failed or is inside a failed frame. */
  readonly failed?: boolean;
  /** Restricts traces of kind `call` to those with a value, including failed ones. Other kinds are not affected. */
  readonly callsCarryValue?: true;
}

/** Cursor: the position of the last trace examined. */
export interface HistoryPosition {
  readonly blockNumber: number;
  readonly traceIndex: number;
  /** Hash of the block; absent if the index did not contain the block. */
  readonly blockHash?: Hash;
}

/** Addresses to search for, or `all` for every trace. */
export type Addresses = readonly Address[] | 'all';

/** Query for a page of a history, with all tags resolved. */
export interface HistoryQuery {
  readonly addresses: Addresses;
  readonly direction: Direction;
  /** Default: the lowest block of the index. */
  readonly fromBlock?: number;
  readonly toBlock: number;
  readonly order: Order;
  readonly filter: HistoryFilter;
  readonly limit: number;
  /** Cursor: the page starts after this position, in the given order. */
  readonly cursor?: HistoryPosition;
}

/** Range of blocks, both ends included. */
export interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** Result of a page query. The traces themselves are passed to a callback. */
export interface HistoryPage {
  /** Requested range with defaults applied. */
  readonly range: BlockRange;
  /** Cursor of the next page; undefined on the last page. A page may be short or empty without being the last. */
  readonly next: HistoryPosition | undefined;
  /** Missing or unavailable blocks of the part of the range that this page covers, ascending. */
  readonly missing: readonly BlockRange[];
}

export type AddressSide = 'from' | 'to';

export interface SummaryQuery {
  readonly address: Address;
  /** Default: the lowest block of the index. */
  readonly fromBlock?: number;
  readonly toBlock: number;
}

/** Number of traces by index in TRACE_TYPES. */
export type TypeCounts = readonly number[];

/** Summary of an address. Each figure is exact for its own `range`, which is undefined if empty. */
export interface HistorySummary {
  readonly range: BlockRange;
  /** Undefined if there is no trace. */
  readonly firstBlock: number | undefined;
  readonly lastBlock: number | undefined;
  readonly counts: {
    readonly by: Readonly<Record<AddressSide, TypeCounts>>;
    readonly range: BlockRange | undefined;
  };
  /** Total value in wei received (`to`) and sent (`from`). */
  readonly value: {
    readonly by: Readonly<Record<AddressSide, bigint>>;
    readonly range: BlockRange | undefined;
  };
  /** Missing blocks of the range, ascending; only the highest if there are too many. */
  readonly missing: readonly BlockRange[];
}

/** Frame below the root that carries value, or creates or destroys a contract, as block explorers define it. */
export interface InternalTransaction extends InternalFrame {
  readonly blockNumber: number;
  /** Timestamp of the block in seconds since 1970. */
  readonly timestamp: number;
  /** Whether the frame failed or is inside a failed frame. */
  readonly hasFailed: boolean;
}

/** Query for internal transactions, with all tags resolved. */
export interface InternalTransactionsQuery extends BlockRange {
  /** Default: all addresses. */
  readonly address?: Address;
  readonly direction: Direction;
  readonly order: Order;
  /** Maximum number of transactions found, including skipped ones. */
  readonly limit: number;
  readonly skip: number;
  readonly cursor?: HistoryPosition;
}

export interface InternalTransactionsPage extends Omit<HistoryPage, 'range'> {
  readonly transactions: readonly InternalTransaction[];
  /** Number of transactions found, including skipped ones. */
  readonly found: number;
}

/** Thrown if a reorg replaced the cursor's block: the previous page may contain traces of the replaced blocks. */
export class BlockReplacedError extends Error {
  override readonly name = 'BlockReplacedError';
  readonly blockNumber: number;

  constructor(blockNumber: number) {
    super(`block ${blockNumber} has been replaced`);
    this.blockNumber = blockNumber;
  }
}
