import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import {
  type Awaitable,
  andThen,
  type ChainIdentity,
  type Hash,
  type HistoryPage,
  type HistoryPlace,
  type HistoryQuery,
  type HistorySummary,
  type IndexChange,
  type IndexedBlock,
  type InternalTransactionsPage,
  type InternalTransactionsQuery,
  type JsonWriter,
  type StoredBlock,
  type SummaryQuery,
  type TraceFilter,
  type TraceStore,
  type TransactionLimits,
} from '../../traces/index.ts';
import { RecentBlocks, type RecentIndex } from './recentBlocks.ts';

export interface TieredOptions {
  /** Blocks that are answered from the index of its own, at the least. */
  readonly keepBlocks: number;
}

export interface TieredDependencies {
  /** What all instances share: it has every block. */
  readonly shared: TraceStore;
  /** Opens an empty index for the newest blocks. */
  readonly openRecent: () => Promise<RecentIndex>;
  /** Hears that the index of its own was thrown away, as it could not be written. */
  readonly failed: (error: unknown) => void;
}

/**
 * The newest blocks from an index of its own, all else from the one that is shared. Every answer is of one of the two, and so of one
 * chain: a range that both have a part of is the shared one's, which has it whole.
 */
export class TieredTraceStore implements TraceStore {
  readonly #shared: TraceStore;
  readonly #recent: RecentBlocks;
  readonly #failed: (error: unknown) => void;
  readonly #keepBlocks: number;
  readonly #changes = new SerialQueue();
  #couldKeep = true;

  constructor({ keepBlocks }: TieredOptions, { shared, openRecent, failed }: TieredDependencies) {
    this.#shared = shared;
    this.#keepBlocks = keepBlocks;
    this.#recent = new RecentBlocks(keepBlocks, openRecent);
    this.#failed = failed;
  }

  get tracesPerChange(): number | undefined {
    return this.#shared.tracesPerChange;
  }

  /** At first, for what another server was faster to write is not applied here. Not after a failure, which the next change may mend. */
  get lacksNewest(): boolean {
    return this.#couldKeep && this.#recent.store === undefined;
  }

  keepNewest(head: IndexedBlock): Promise<void> {
    return this.#changes.run(() => this.#keep({ blocks: [head] }));
  }

  chain(): Awaitable<ChainIdentity | undefined> {
    return this.#shared.chain();
  }

  bindChain(identity: ChainIdentity): Promise<void> {
    return this.#shared.bindChain(identity);
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

  apply(change: IndexChange): Promise<void> {
    return this.#changes.run(() => this.#apply(change));
  }

  async close(): Promise<void> {
    await this.#changes.idle();
    await this.#recent.discard();
    await this.#shared.close();
  }

  /** First where all see it: what the index of its own has, the shared one has or had. */
  async #apply(change: IndexChange): Promise<void> {
    await this.#shared.apply(change);
    const head = (await this.#shared.head())?.number ?? -1;
    const newest = change.blocks.filter(({ block }) => block.number > head - this.#keepBlocks);
    const { undoFrom } = change;
    await this.#keep({ blocks: newest, ...(undoFrom !== undefined && { undoFrom }) });
  }

  /** Here it is a copy alone: it may be thrown away, and answers come from the shared one. Then it is begun again with the next change. */
  async #keep(change: IndexChange): Promise<void> {
    try {
      await this.#recent.apply(change);
      this.#couldKeep = true;
    } catch (error) {
      this.#couldKeep = false;
      this.#failed(error);
    }
  }

  #holding(fromBlock: number, toBlock: number): TraceStore {
    return this.#recent.holding(fromBlock, toBlock) ?? this.#shared;
  }

  #firstKnown<T>(read: (store: TraceStore) => Awaitable<T | undefined>): Awaitable<T | undefined> {
    const recent = this.#recent.store;
    if (recent === undefined) return read(this.#shared);
    return andThen(read(recent), (found) => (found === undefined ? read(this.#shared) : found));
  }
}
