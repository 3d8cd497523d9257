import type { TraceAttributes, TraceKind } from '../chunk/attributes.ts';
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
  /** True selects frames below the root of their transaction, false selects root frames. A reward is neither. */
  readonly internal?: boolean;
  /** True selects traces that failed or are inside a failed frame, false selects the others. */
  readonly failed?: boolean;
  /** Excludes traces of kind `call` without a value. Failed calls with a value are included. */
  readonly callsCarryValue?: true;
}

/** Position of a trace: block and trace index. A cursor is the last position that the previous page covered. */
export interface HistoryPosition {
  readonly blockNumber: number;
  readonly traceIndex: number;
  /** Hash of the block; absent if the index did not contain the block. */
  readonly blockHash?: Hash;
}

/** Addresses whose traces a query returns, or `all` for the traces of all addresses. */
export type Addresses = readonly Address[] | 'all';

/** Query for one page of a history. Block tags such as `latest` are already replaced by numbers. */
export interface HistoryQuery {
  readonly addresses: Addresses;
  readonly direction: Direction;
  /** Default: the lowest block of the index. */
  readonly fromBlock?: number;
  readonly toBlock: number;
  readonly order: Order;
  readonly filter: HistoryFilter;
  readonly limit: number;
  /** The page starts after this position, in the given order. Default: the start of the range. */
  readonly cursor?: HistoryPosition | undefined;
}

/** Range of blocks, both ends included. */
export interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** Result of a query for a page. The traces of the page are not in it, but were passed to a callback or writer. */
export interface HistoryPage {
  /** Requested range of blocks; the default of `fromBlock` is resolved. */
  readonly range: BlockRange;
  /** Cursor of the next page; undefined on the last page. A page may be short or empty without being the last. */
  readonly next: HistoryPosition | undefined;
  /** Ranges of missing or unavailable blocks among the blocks that this page covers, ascending. */
  readonly missing: readonly BlockRange[];
}

export type AddressSide = 'from' | 'to';

export interface SummaryQuery {
  readonly address: Address;
  /** Default: the lowest block of the index. */
  readonly fromBlock?: number;
  readonly toBlock: number;
}

/** Number of traces of each type, in the order of TRACE_TYPES. */
export type TypeCounts = readonly number[];

/** Summary of an address. `counts` and `value` are exact for their own `range`, which is undefined if empty. */
export interface HistorySummary {
  readonly range: BlockRange;
  /** First block of the range with a trace of the address; undefined if there is none. */
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
  /** Ranges of missing or unavailable blocks, ascending. If there are too many, only the highest are listed. */
  readonly missing: readonly BlockRange[];
}

/** A stored frame: its chunk, its index in its block, and the block. */
export interface StoredFrame {
  readonly chunk: Uint8Array;
  readonly traceIndex: number;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  /** Timestamp of the block in seconds since 1970. */
  readonly timestamp: number;
  readonly attributes: () => TraceAttributes;
}

/** Reads the wanted members of a frame: `transactionOf` or `historyFrameOf`. */
export type DecodeFrame<T> = (frame: StoredFrame) => T;

/** Transaction of a frame, the index of the frame in its block, and the block. */
export interface HistoryTransaction
  extends Pick<StoredFrame, 'traceIndex' | 'blockNumber' | 'blockHash' | 'timestamp'> {
  readonly transactionHash: Hash;
}

/** Frame of a history, without its input and output. */
export interface HistoryFrame extends HistoryTransaction, InternalFrame {
  /** Whether the frame failed or is inside a failed frame. */
  readonly hasFailed: boolean;
}

/**
 * Filter for internal transactions as block explorers define them: frames below the root that transfer value, or that
 * create or destroy a contract.
 */
export const INTERNAL_TRANSACTIONS: HistoryFilter = {
  kinds: ['call', 'create', 'suicide'],
  internal: true,
  callsCarryValue: true,
};

/** Query for one page of frames. Block tags such as `latest` are already replaced by numbers. */
export interface FramesQuery extends BlockRange {
  /** Default: all addresses. */
  readonly address?: Address;
  readonly direction: Direction;
  readonly order: Order;
  /** Must exclude rewards, which are not frames. */
  readonly filter: HistoryFilter;
  /** Maximum number of frames to find. The first `skip` of them count, but are not returned. */
  readonly limit: number;
  readonly skip: number;
  readonly cursor?: HistoryPosition | undefined;
}

export interface FramesPage<T> extends Omit<HistoryPage, 'range'> {
  readonly frames: readonly T[];
  /** Number of frames that were found, including those that were skipped. */
  readonly found: number;
}

/** Thrown if a reorg replaced the block of the cursor. Earlier pages may then contain traces of replaced blocks. */
export class BlockReplacedError extends Error {
  override readonly name = 'BlockReplacedError';
  readonly blockNumber: number;

  constructor(blockNumber: number) {
    super(`block ${blockNumber} has been replaced`);
    this.blockNumber = blockNumber;
  }
}
