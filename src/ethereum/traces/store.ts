import type { JsonWriter } from './chunk/jsonWriter.ts';
import type { TraceFilter } from './filter.ts';
import type {
  DecodeFrame,
  FramesPage,
  FramesQuery,
  HistoryPage,
  HistoryPosition,
  HistoryQuery,
  HistorySummary,
  SummaryQuery,
} from './history/query.ts';
import type { MaybePromise } from './maybePromise.ts';
import type { Hash } from './trace.ts';

/**
 * Reasons why the index has a block without its traces. `damaged`: the traces were lost in the index. Otherwise no node
 * returned them.
 */
export const TRACE_FAILURES = ['tracerError', 'timeout', 'oversized', 'invalid', 'damaged'] as const;
export type TraceFailure = (typeof TRACE_FAILURES)[number];

/** A block of the index, without its traces. */
export interface StoredBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly traceCount: number;
  /** Reason why the index has this block without its traces. Absent if the index has the traces. */
  readonly unavailable?: TraceFailure;
}

/** A block that the index has without its traces, because no node could trace it. */
export type UnavailableBlock = StoredBlock & { readonly unavailable: TraceFailure };

/** What the term of a posting list is: a sender, a recipient, or the transaction hash of root frames. */
export type Side = 'from' | 'to' | 'transaction';

/** Key of a posting list: address or first 20 bytes of a transaction hash, as `0x` and 40 lower-case hex digits. */
export type PostingTerm = string;

/** Postings of a block for one `Side`. `positions[i]`, a position in the block's segment, belongs to `terms[i]`. */
export interface Postings {
  readonly terms: readonly PostingTerm[];
  readonly positions: readonly number[];
}

/** A block prepared for storage, with data derived from its traces. This data is empty for an unavailable block. */
export interface IndexedBlock {
  readonly block: StoredBlock;
  readonly chunks: readonly Uint8Array[];
  readonly postings: Readonly<Record<Side, Postings>>;
  /** Whether a transaction of the network has no frames, which another node may list. Default: false. */
  readonly lacksFrames?: boolean;
}

/** One atomic change of the index. */
export interface IndexChange {
  /** Before `blocks` are added, all blocks from this number on are removed, because a reorg replaced them. */
  readonly undoFrom?: number;
  /** Blocks to add, ascending. A block that the index has is skipped, unless it adds traces that the index lacks. */
  readonly blocks: readonly IndexedBlock[];
  /** Number of the new highest final block. Blocks up to it are removed only by a change with `undoFinal`. */
  readonly finalizedNumber?: number;
  /** Whether the blocks are added because a client requested them. Such on-demand blocks may be evicted. */
  readonly onDemand?: boolean;
  /** Allows `undoFrom` to remove final blocks. The highest final block is then at most the block below `undoFrom`. */
  readonly undoFinal?: boolean;
}

/**
 * Storage engine of the trace index. An embedded engine returns results without a promise (see `mapMaybe`).
 *
 * Each read sees the consistent state after the last applied change. Two reads may see different states, because
 * another process may apply a change between them. Data that must be consistent must therefore come from a single
 * read. For example, `filter` and `blockTraces` return undefined for a missing block, so that callers need no
 * separate check. An engine that needs several steps for a read uses a snapshot, or checks at the end for a change
 * and retries.
 */
export interface TraceStore {
  /** Number of traces that bulk ingest should write with one change. Default: the number that `ingest` defines. */
  readonly tracesPerChange?: number | undefined;
  /** The blocks that were added on demand; undefined if the engine does not distinguish them. */
  readonly onDemand?: OnDemandPart;

  /** Returns the identity of the chain that the index contains; undefined until the first `bindChain`. */
  chain(): MaybePromise<ChainIdentity | undefined>;
  /** Stores the identity of the node's chain. Throws WrongChainError if the index contains another chain. */
  bindChain(identity: ChainIdentity): Promise<void>;

  /** Returns the highest block of the index; undefined if the index is empty. */
  head(): MaybePromise<StoredBlock | undefined>;
  /** Returns the number of the highest final block; undefined until a change set it. */
  finalizedNumber(): MaybePromise<number | undefined>;
  block(blockNumber: number): MaybePromise<StoredBlock | undefined>;
  /** Returns the highest block of the index with a number of at most `upTo`; undefined if there is none. */
  lastBlock(upTo: number): MaybePromise<StoredBlock | undefined>;
  /** Returns the lowest block number of a range that is not in the index. Unavailable blocks are in the index. */
  firstMissing(fromBlock: number, toBlock: number): MaybePromise<number | undefined>;
  /** Returns the lowest unavailable blocks of a range, at most `max`, ascending. */
  unavailable(fromBlock: number, toBlock: number, max: number): MaybePromise<readonly UnavailableBlock[]>;

  /**
   * Returns the matching traces as bytes of a JSON array, or undefined if a block of the range is missing or
   * unavailable. Throws AnswerTooLargeError above `maxBytes`, and TooManyTracesError. If the writer `json` is given,
   * the bytes are in its buffer, and valid until the next write to it.
   */
  filter(
    filter: TraceFilter,
    maxBytes: number,
    options?: FilterOptions,
  ): MaybePromise<Uint8Array | undefined>;
  /** Returns all traces of a block as bytes of a JSON array, or undefined if the block is missing or unavailable. */
  blockTraces(blockNumber: number, maxBytes: number, nextTurn?: NextTurn): MaybePromise<Buffer | undefined>;
  /**
   * Returns all traces of a transaction as bytes of a JSON array, or undefined if the index does not contain the
   * transaction.
   */
  transactionTraces(hash: Hash, limits: TransactionLimits): MaybePromise<Buffer | undefined>;
  /** Returns one frame as JSON; null if the transaction has no such frame, undefined if the transaction is unknown. */
  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    limits: TransactionLimits,
  ): MaybePromise<Buffer | null | undefined>;

  /**
   * Appends the traces of a history page to `json`, as a JSON array. The work is bounded, so a short or empty page
   * need not be the last. Throws AnswerTooLargeError if a single trace exceeds `maxBytes`, and BlockReplacedError.
   */
  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter): MaybePromise<HistoryPage>;

  /** Returns the summary of an address. Throws DirectoryNotReadyError if that would take too much work. */
  addressSummary(query: SummaryQuery): MaybePromise<HistorySummary>;

  /** Returns a page of the frames of a history. A short page need not be the last. Throws BlockReplacedError. */
  frames<T>(query: FramesQuery, decode: DecodeFrame<T>): MaybePromise<FramesPage<T>>;

  /** Returns the position of a transaction's root frame; undefined if the index does not contain the transaction. */
  transactionPosition(
    hash: Hash,
    limits: Pick<TransactionLimits, 'upTo'>,
  ): MaybePromise<HistoryPosition | undefined>;

  /**
   * Returns a reader that fetches the few blocks which a read of the index needs, but which are missing or damaged, and
   * does not store them. Present if other servers write a part of the index.
   */
  fetching?(fetch: FetchBlocks): TraceReader;

  /** Applies a change. When the promise resolves, the change is on disk and visible to every read. */
  apply(change: IndexChange): Promise<void>;
  /** Records damaged parts of the index that another process has read. Absent if the engine repairs no damage. */
  noteDamage?(parts: readonly DamagedPart[]): void;
  /**
   * Repairs the parts in which a read has found damage. Traces of damaged blocks are removed and must be fetched again;
   * all other data is derived from intact records. Resolves with undefined if no damage is known.
   */
  repair?(): Promise<IndexRepair | undefined>;
  close(): Promise<void>;
}

/** A part of the index that is repaired as a whole: a segment, a run of the directory, or all single records. */
export type DamagedPart =
  /** If `isRebuilt` is true, all posting lists of the segment are derived again, not only the damaged ones. */
  | { readonly kind: 'segment'; readonly segment: number; readonly isRebuilt?: boolean }
  | { readonly kind: 'run'; readonly level: number; readonly run: number }
  | { readonly kind: 'singles' };

export interface IndexRepair {
  /** Blocks that have become unavailable, because their traces are damaged. */
  readonly unavailable: readonly number[];
  /** Blocks that were removed, because their hash is damaged. */
  readonly removed: readonly number[];
  /** Names of the single records that were derived again or removed. */
  readonly records: readonly string[];
  /** Why parts could not be repaired. */
  readonly failures: readonly string[];
}

/** The blocks of an index that were added because a client requested them. */
export interface OnDemandPart {
  /** Returns the size of the blocks in bytes: chunks before compression, postings and records. */
  bytes(): number;
  /**
   * Evicts the oldest blocks until the others have at most `maxBytes`, except the head and those for which `isPinned`
   * returns true. Evicted blocks are then missing in the index. Returns the number of evicted blocks.
   */
  evict(maxBytes: number, isPinned: (blockNumber: number) => boolean): Promise<number>;
  /** Makes the blocks of a range permanent, so that they are never evicted. */
  keep(fromBlock: number, toBlock: number): Promise<void>;
}

/**
 * Resolves when a long read may continue to use the thread. An embedded engine calls it every 1 to 2 ms. Default: after
 * I/O was polled.
 */
export type NextTurn = () => Promise<void>;

export interface FilterOptions {
  readonly json?: JsonWriter | undefined;
  readonly nextTurn?: NextTurn | undefined;
}

/** Returns blocks of nodes, with their traces, in the given order. Throws if no node returns one of them. */
export type FetchBlocks = (numbers: readonly number[]) => Promise<readonly IndexedBlock[]>;

/** Limits for a read of a transaction's traces. */
export interface TransactionLimits {
  readonly maxBytes: number;
  readonly nextTurn?: NextTurn | undefined;
  /** Highest block number; transactions of higher blocks are treated as unknown. Default: the head of the index. */
  readonly upTo?: number | undefined;
  /** A block below which the transaction is not, so that a store need not search there. Default: 0. */
  readonly fromBlock?: number | undefined;
}

/** Read access to an index that another process writes. */
export type TraceReader = Omit<TraceStore, 'bindChain' | 'apply' | 'onDemand' | 'noteDamage' | 'repair'>;

/** An index whose blocks can be added to another index without a conversion. */
export interface CopyableIndex extends TraceReader {
  /** Returns a block as it was added; undefined if it is missing. Throws if a part of it is damaged. */
  indexedBlock(blockNumber: number): IndexedBlock | undefined;
}

/** A trace store in the data folder. */
export type EmbeddedTraceStore = TraceStore & CopyableIndex;

/** Identity of a chain. */
export interface ChainIdentity {
  readonly chainId: number;
  readonly genesisHash: Hash;
}

/** Thrown if the index and the node belong to different chains. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError';

  constructor(held: ChainIdentity, offered: ChainIdentity) {
    super(
      `the index contains chain ${held.chainId} with genesis ${held.genesisHash}, but the node is on chain ` +
        `${offered.chainId} with genesis ${offered.genesisHash}: use another data folder or another node`,
    );
  }
}

/** Thrown if a result would exceed the size limit. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`the result is larger than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** Thrown if a change would remove a final block, or if its blocks do not fit the blocks of the index. */
export class IndexConflictError extends Error {
  override readonly name = 'IndexConflictError';
}

/** Thrown if the index cannot be read or written now, because its database is unreachable or incomplete. */
export class IndexUnavailableError extends Error {
  /** Whether the database answers, but its rows do not prove a result. */
  readonly isUnproven: boolean = false;
}
