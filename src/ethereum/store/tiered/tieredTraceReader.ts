import {
  type Awaitable,
  andThen,
  type ChainIdentity,
  type Hash,
  type HistoryPage,
  type HistoryPlace,
  type HistoryQuery,
  type HistorySummary,
  type InternalTransactionsPage,
  type InternalTransactionsQuery,
  type JsonWriter,
  type StoredBlock,
  type SummaryQuery,
  type TraceFilter,
  type TraceReader,
  type TransactionLimits,
} from '../../traces/index.ts';

/** An index of the newest blocks, without gaps. */
export interface NewestBlocks {
  /** The index, where it has every block of a range. */
  holding(fromBlock: number, toBlock: number): TraceReader | undefined;
  /** The index, where it has any block. */
  readonly store: TraceReader | undefined;
  readonly head: number | undefined;
}

export interface TieredReaderDependencies {
  /** It has every block. */
  readonly shared: TraceReader;
  readonly recent: NewestBlocks;
}

/**
 * The newest blocks from an index of its own, all else from the one that is shared. Every answer is of one of the two, and so of one
 * chain: a range that both have a part of is the shared one's, which has it whole.
 */
export class TieredTraceReader implements TraceReader {
  readonly #shared: TraceReader;
  readonly #recent: NewestBlocks;

  constructor({ shared, recent }: TieredReaderDependencies) {
    this.#shared = shared;
    this.#recent = recent;
  }

  chain(): Awaitable<ChainIdentity | undefined> {
    return this.#shared.chain();
  }

  head(): Awaitable<StoredBlock | undefined> {
    return (this.#recent.store ?? this.#shared).head();
  }

  finalizedNumber(): Awaitable<number | undefined> {
    return this.#shared.finalizedNumber();
  }

  block(blockNumber: number): Awaitable<StoredBlock | undefined> {
    return this.#holding(blockNumber, blockNumber).block(blockNumber);
  }

  lastBlock(upTo: number): Awaitable<StoredBlock | undefined> {
    const { head } = this.#recent;
    if (head !== undefined && upTo >= head) return this.head();
    return this.#holding(upTo, upTo).lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): Awaitable<number | undefined> {
    return this.#holding(fromBlock, toBlock).firstMissing(fromBlock, toBlock);
  }

  filter(filter: TraceFilter, maxBytes: number, json?: JsonWriter): Awaitable<Uint8Array | undefined> {
    return this.#holding(filter.fromBlock, filter.toBlock).filter(filter, maxBytes, json);
  }

  blockTraces(blockNumber: number, maxBytes: number): Awaitable<Buffer | undefined> {
    return this.#holding(blockNumber, blockNumber).blockTraces(blockNumber, maxBytes);
  }

  transactionTraces(hash: Hash, limits: TransactionLimits): Awaitable<Buffer | undefined> {
    return this.#firstKnown((store) => store.transactionTraces(hash, limits));
  }

  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    limits: TransactionLimits,
  ): Awaitable<Buffer | null | undefined> {
    return this.#firstKnown((store) => store.transactionTrace(hash, traceAddress, limits));
  }

  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter): Awaitable<HistoryPage> {
    return this.#holding(query.fromBlock ?? -1, query.toBlock).addressTraces(query, maxBytes, json);
  }

  addressSummary(query: SummaryQuery): Awaitable<HistorySummary> {
    return this.#shared.addressSummary(query);
  }

  internalTransactions(query: InternalTransactionsQuery): Awaitable<InternalTransactionsPage> {
    return this.#holding(query.fromBlock, query.toBlock).internalTransactions(query);
  }

  transactionPlace(hash: Hash, limits: Pick<TransactionLimits, 'upTo'>): Awaitable<HistoryPlace | undefined> {
    return this.#firstKnown((store) => store.transactionPlace(hash, limits));
  }

  close(): Promise<void> {
    return this.#shared.close();
  }

  #holding(fromBlock: number, toBlock: number): TraceReader {
    return this.#recent.holding(fromBlock, toBlock) ?? this.#shared;
  }

  #firstKnown<T>(read: (store: TraceReader) => Awaitable<T | undefined>): Awaitable<T | undefined> {
    const recent = this.#recent.store;
    if (recent === undefined) return read(this.#shared);
    return andThen(read(recent), (found) => (found === undefined ? read(this.#shared) : found));
  }
}
