import {
  type ChainIdentity,
  type FramesPage,
  type FramesQuery,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  type JsonWriter,
  type MaybePromise,
  mapMaybe,
  type StoredBlock,
  type SummaryQuery,
  type TraceFilter,
  type TraceReader,
  type TransactionLimits,
  type UnavailableBlock,
} from '../../traces/index.ts';

/** The trace index that holds the newest blocks. Its block numbers are consecutive. */
export interface NewestBlocks {
  /** Returns the index if it has every block of the range. */
  covering(fromBlock: number, toBlock: number): TraceReader | undefined;
  /** The index. Undefined if it has no blocks. */
  readonly store: TraceReader | undefined;
  readonly head: number | undefined;
}

export interface TieredReaderDependencies {
  readonly shared: TraceReader;
  readonly recent: NewestBlocks;
}

/**
 * Reads the newest blocks from a local index, and other blocks from the shared index. Each result is read from only
 * one of these indexes, so its blocks always belong to one chain.
 */
export class TieredTraceReader implements TraceReader {
  readonly #shared: TraceReader;
  readonly #recent: NewestBlocks;

  constructor({ shared, recent }: TieredReaderDependencies) {
    this.#shared = shared;
    this.#recent = recent;
  }

  chain(): MaybePromise<ChainIdentity | undefined> {
    return this.#shared.chain();
  }

  head(): MaybePromise<StoredBlock | undefined> {
    return (this.#recent.store ?? this.#shared).head();
  }

  finalizedNumber(): MaybePromise<number | undefined> {
    return this.#shared.finalizedNumber();
  }

  block(blockNumber: number): MaybePromise<StoredBlock | undefined> {
    return this.#storeFor(blockNumber, blockNumber).block(blockNumber);
  }

  lastBlock(upTo: number): MaybePromise<StoredBlock | undefined> {
    const { head } = this.#recent;
    if (head !== undefined && upTo >= head) return this.head();
    return this.#storeFor(upTo, upTo).lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): MaybePromise<number | undefined> {
    return this.#storeFor(fromBlock, toBlock).firstMissing(fromBlock, toBlock);
  }

  unavailable(fromBlock: number, toBlock: number, max: number): MaybePromise<readonly UnavailableBlock[]> {
    return this.#storeFor(fromBlock, toBlock).unavailable(fromBlock, toBlock, max);
  }

  filter(filter: TraceFilter, maxBytes: number, json?: JsonWriter): MaybePromise<Uint8Array | undefined> {
    return this.#storeFor(filter.fromBlock, filter.toBlock).filter(filter, maxBytes, json);
  }

  blockTraces(blockNumber: number, maxBytes: number): MaybePromise<Buffer | undefined> {
    return this.#storeFor(blockNumber, blockNumber).blockTraces(blockNumber, maxBytes);
  }

  transactionTraces(hash: Hash, limits: TransactionLimits): MaybePromise<Buffer | undefined> {
    return this.#firstKnown((store) => store.transactionTraces(hash, limits));
  }

  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    limits: TransactionLimits,
  ): MaybePromise<Buffer | null | undefined> {
    return this.#firstKnown((store) => store.transactionTrace(hash, traceAddress, limits));
  }

  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter): MaybePromise<HistoryPage> {
    return this.#storeFor(query.fromBlock ?? -1, query.toBlock).addressTraces(query, maxBytes, json);
  }

  addressSummary(query: SummaryQuery): MaybePromise<HistorySummary> {
    return this.#shared.addressSummary(query);
  }

  frames(query: FramesQuery): MaybePromise<FramesPage> {
    return this.#storeFor(query.fromBlock, query.toBlock).frames(query);
  }

  transactionPosition(
    hash: Hash,
    limits: Pick<TransactionLimits, 'upTo'>,
  ): MaybePromise<HistoryPosition | undefined> {
    return this.#firstKnown((store) => store.transactionPosition(hash, limits));
  }

  close(): Promise<void> {
    return this.#shared.close();
  }

  #storeFor(fromBlock: number, toBlock: number): TraceReader {
    return this.#recent.covering(fromBlock, toBlock) ?? this.#shared;
  }

  #firstKnown<T>(read: (store: TraceReader) => MaybePromise<T | undefined>): MaybePromise<T | undefined> {
    const recent = this.#recent.store;
    if (recent === undefined) return read(this.#shared);
    return mapMaybe(read(recent), (found) => (found === undefined ? read(this.#shared) : found));
  }
}
