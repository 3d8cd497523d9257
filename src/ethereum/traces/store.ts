import type { Awaitable } from './awaitable.ts';
import type { JsonWriter } from './chunk/jsonWriter.ts';
import type { TraceFilter } from './filter.ts';
import type {
  HistoryPage,
  HistoryPlace,
  HistoryQuery,
  HistorySummary,
  InternalTransactionsPage,
  InternalTransactionsQuery,
  SummaryQuery,
} from './history/query.ts';
import type { Hash } from './trace.ts';

/** A block of the index, without its traces. */
export interface StoredBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly traceCount: number;
}

/** The side by which a posting list finds traces; `transaction` finds the root frame of one. */
export type Side = 'from' | 'to' | 'transaction';

/** An address, or as much of a transaction's hash: `0x` and 40 lower-case hex digits. What a posting list is found by. */
export type PostingTerm = string;

/** What one side of a block is found by: position `i` belongs to term `i`. Positions, in the block's segment, ascend. */
export interface Postings {
  readonly terms: readonly PostingTerm[];
  readonly positions: readonly number[];
}

/** A block made ready to be written: everything that is derived from its traces. */
export interface IndexedBlock {
  readonly block: StoredBlock;
  readonly chunks: readonly Uint8Array[];
  readonly postings: Readonly<Record<Side, Postings>>;
}

/** One change of the index. It is applied whole or not at all. */
export interface IndexChange {
  /** Blocks from this number on are removed first: they were replaced by others. */
  readonly undoFrom?: number;
  /** Blocks to add, in ascending order. A block that is there already with the same hash is left as it is. */
  readonly blocks: readonly IndexedBlock[];
  /** The new highest finalized block; blocks up to it are never removed again, but by a change that says `undoFinal`. */
  readonly finalizedNumber?: number;
  /** Whether final blocks may be removed too. The block below `undoFrom` is the highest final one then, at most. */
  readonly undoFinal?: boolean;
}

/**
 * Where the index of traces is kept. A read may answer at once or later: an embedded engine answers at once, and those who
 * read go on in the same turn (`andThen`).
 *
 * Each read sees the last applied change, whole: never a part of one, and never two different states. Two reads may see
 * two: between them a change may be applied, even by another process. So whatever must be of one chain is one read, and
 * says itself where it cannot be given: `filter` and `blockTraces` give undefined where a block is missing, instead of being
 * asked about that before. An engine that takes several steps to a read takes them in one snapshot of its own, or looks at
 * the end whether a change came between and begins again.
 */
export interface TraceStore {
  /** Traces to be gathered for one change where many blocks are added; left out, as many as are usual. */
  readonly tracesPerChange?: number | undefined;
  /** Whether none of the newest blocks are kept nearer, though they could be: then the head is to be given to `keepNewest`. */
  readonly lacksNewest?: boolean;
  /** Where other processes of this machine may read those that are; undefined where none are. */
  readonly recentPart?: RecentPart | undefined;

  /** The chain that the index holds; undefined until the first `bindChain`. */
  chain(): Awaitable<ChainIdentity | undefined>;
  /** Remembers which chain this is. Throws WrongChainError where the index holds another. */
  bindChain(identity: ChainIdentity): Promise<void>;

  /** The highest block; undefined where there is none. */
  head(): Awaitable<StoredBlock | undefined>;
  /** The highest finalized block's number; undefined until one is known. */
  finalizedNumber(): Awaitable<number | undefined>;
  block(blockNumber: number): Awaitable<StoredBlock | undefined>;
  /** The highest block up to a number; undefined where there is none. */
  lastBlock(upTo: number): Awaitable<StoredBlock | undefined>;
  /** The lowest block from `fromBlock` to `toBlock` that is not in the index. */
  firstMissing(fromBlock: number, toBlock: number): Awaitable<number | undefined>;

  /**
   * The matching traces as the bytes of a JSON array; undefined where a block of the range is not in the index. Throws
   * AnswerTooLargeError past `maxBytes`. The bytes lie in `json` where that is given, whatever the engine: they are good
   * until it is written to again.
   */
  filter(filter: TraceFilter, maxBytes: number, json?: JsonWriter): Awaitable<Uint8Array | undefined>;
  /** All traces of a block as the bytes of a JSON array; undefined where the block is not in the index. */
  blockTraces(blockNumber: number, maxBytes: number): Awaitable<Buffer | undefined>;
  /** All traces of a transaction, likewise; undefined where no block of the index has it. */
  transactionTraces(hash: Hash, limits: TransactionLimits): Awaitable<Buffer | undefined>;
  /**
   * The frame of a transaction that has this `traceAddress`, as JSON; null where the transaction has no such frame, undefined
   * where no block of the index has the transaction. Takes as long whatever else the transaction did.
   */
  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    limits: TransactionLimits,
  ): Awaitable<Buffer | null | undefined>;

  /**
   * A page of the history of some addresses: its traces as a JSON array in `json`, behind what stands there. It looks at a bounded
   * number of places and may be short, or empty, and not be the last; it is cut where `maxBytes` are reached, and throws
   * AnswerTooLargeError only where one trace is larger. Throws BlockReplacedError where the block that it shall go on from is another.
   */
  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter): Awaitable<HistoryPage>;

  /**
   * What the history of an address comes to, within a bound of work: each figure with the range that it is of. Throws
   * DirectoryUnfinishedError where the index is not ready to tell.
   */
  addressSummary(query: SummaryQuery): Awaitable<HistorySummary>;

  /**
   * Internal transactions as objects, page by page; as addressTraces a page may be short and not be the last. Throws BlockReplacedError
   * where the block that it shall go on from is another.
   */
  internalTransactions(query: InternalTransactionsQuery): Awaitable<InternalTransactionsPage>;

  /** Where the root frame of a transaction stands; undefined where no block of the index has it. */
  transactionPlace(hash: Hash, limits: Pick<TransactionLimits, 'upTo'>): Awaitable<HistoryPlace | undefined>;

  /** Applies a change. When it resolves, the change is on disk and visible to every read. */
  apply(change: IndexChange): Promise<void>;
  /** Keeps the head, which the index has, nearer as well. */
  keepNewest?(head: IndexedBlock): Promise<void>;
  close(): Promise<void>;
}

/** An embedded index of some of the blocks, without gaps. */
export interface RecentPart {
  readonly folder: string;
  readonly first: number;
  readonly head: number;
}

/** What an answer about a transaction may be of. */
export interface TransactionLimits {
  readonly maxBytes: number;
  /** The highest block: a transaction above it is answered as one that the index does not have. Left out: the index's head. */
  readonly upTo?: number | undefined;
}

/** An index that somebody else writes. */
export type TraceReader = Omit<
  TraceStore,
  'bindChain' | 'apply' | 'keepNewest' | 'lacksNewest' | 'recentPart'
>;

/** What tells one chain from another. */
export interface ChainIdentity {
  readonly chainId: number;
  readonly genesisHash: Hash;
}

/** The index belongs to another chain than the node. */
export class WrongChainError extends Error {
  override readonly name = 'WrongChainError';

  constructor(held: ChainIdentity, offered: ChainIdentity) {
    super(
      `the index holds chain ${held.chainId} with genesis ${held.genesisHash}, but the node is on chain ` +
        `${offered.chainId} with genesis ${offered.genesisHash}: use another data folder, or the right node`,
    );
  }
}

/** An answer would not fit into the bytes that an answer may have. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super(`the answer is larger than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** A change would remove a finalized block, or does not fit to the blocks that are there. */
export class IndexConflictError extends Error {
  override readonly name = 'IndexConflictError';
}

/** The index cannot be read or written now: what it is kept in is away, or has not all of it. */
export class IndexUnavailableError extends Error {}
