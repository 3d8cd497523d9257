import {
  AnswerTooLargeError,
  type BlockRange,
  type ChainIdentity,
  type DecodeFrame,
  type FetchBlocks,
  type FilterOptions,
  type FramesPage,
  type FramesQuery,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  immediate,
  JsonWriter,
  type MaybePromise,
  mapMaybe,
  type NextTurn,
  type StoredBlock,
  type SummaryQuery,
  TooManyTracesError,
  type TraceFilter,
  type TraceReader,
  type TransactionLimits,
  type UnavailableBlock,
} from '../../../traces/index.ts';
import { TraceStoreUnavailable } from '../connection/failures.ts';
import type { FilterPart } from '../reads/filterPart.ts';
import type { SharedReader } from '../sharedReader.ts';
import { pageOf, summaryOfBoth } from './combinedHistories.ts';
import { LocalRun, type RunStart, tipBelow } from './localRun.ts';

/** Maximum number of times that a read starts again because the border between the stores moved. */
const MAX_READS = 4;
const EMPTY_ARRAY_BYTES = 2;
const COMMA = Buffer.from(',');

export interface CombinedReaderDependencies {
  readonly local: TraceReader;
  /** Returns the reader of the shared index of a chain. */
  readonly shared: (chain: ChainIdentity) => SharedReader;
  /** Default: found in the local index. */
  readonly run?: LocalRun;
}

/**
 * Reads the newest blocks from a local index, and older blocks from the shared index. A result with blocks of both is
 * joined at the lowest block of the local index, whose parent both know.
 */
export class CombinedTraceReader implements TraceReader {
  protected readonly run: LocalRun;
  readonly #local: TraceReader;
  readonly #sharedOf: (chain: ChainIdentity) => SharedReader;
  #reader: SharedReader | undefined;

  constructor({ local, shared, run = new LocalRun(local) }: CombinedReaderDependencies) {
    this.#local = local;
    this.#sharedOf = shared;
    this.run = run;
  }

  /** The reader of the shared index; undefined while the chain is not known. */
  get shared(): SharedReader | undefined {
    const chain = this.#reader === undefined ? immediate(this.#local.chain()) : undefined;
    if (chain !== undefined) this.#reader = this.#sharedOf(chain);
    return this.#reader;
  }

  chain(): MaybePromise<ChainIdentity | undefined> {
    return this.#local.chain();
  }

  head(): MaybePromise<StoredBlock | undefined> {
    return this.#local.head();
  }

  finalizedNumber(): MaybePromise<number | undefined> {
    return this.#local.finalizedNumber();
  }

  block(blockNumber: number): MaybePromise<StoredBlock | undefined> {
    return this.#storeOf(blockNumber)?.block(blockNumber);
  }

  lastBlock(upTo: number): MaybePromise<StoredBlock | undefined> {
    return this.#storeOf(upTo)?.lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): MaybePromise<number | undefined> {
    if (fromBlock > toBlock) return undefined;
    if (this.#isLocal(fromBlock)) return this.#local.firstMissing(fromBlock, toBlock);
    const { shared } = this;
    if (shared === undefined) return fromBlock;
    return this.#steady(async (start) => {
      const end = Math.min(toBlock, (start?.number ?? toBlock + 1) - 1);
      const missing = await shared.firstMissing(fromBlock, end);
      return missing ?? (end < toBlock ? this.#local.firstMissing(end + 1, toBlock) : undefined);
    });
  }

  unavailable(fromBlock: number, toBlock: number, max: number): MaybePromise<readonly UnavailableBlock[]> {
    const { shared } = this;
    if (shared === undefined || fromBlock > toBlock || this.#isLocal(fromBlock))
      return this.#local.unavailable(fromBlock, toBlock, max);
    return this.#steady(async (start) => {
      const end = Math.min(toBlock, (start?.number ?? toBlock + 1) - 1);
      const older = await shared.unavailable(fromBlock, end, max);
      if (end === toBlock || older.length >= max) return older;
      return [...older, ...(await this.#local.unavailable(end + 1, toBlock, max - older.length))];
    });
  }

  filter(
    filter: TraceFilter,
    maxBytes: number,
    options?: FilterOptions,
  ): MaybePromise<Uint8Array | undefined> {
    const { shared } = this;
    if (shared === undefined || this.#isLocal(filter.fromBlock))
      return this.#local.filter(filter, maxBytes, options);
    return this.#steady((start) => this.#filterBoth(filter, { start, shared, maxBytes, ...options }));
  }

  blockTraces(blockNumber: number, maxBytes: number, nextTurn?: NextTurn): MaybePromise<Buffer | undefined> {
    return this.#storeOf(blockNumber)?.blockTraces(blockNumber, maxBytes, nextTurn);
  }

  transactionTraces(hash: Hash, limits: TransactionLimits): MaybePromise<Buffer | undefined> {
    return this.#find(limits, (store, within) => store.transactionTraces(hash, within));
  }

  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    limits: TransactionLimits,
  ): MaybePromise<Buffer | null | undefined> {
    return this.#find(limits, (store, within) => store.transactionTrace(hash, traceAddress, within));
  }

  transactionPosition(
    hash: Hash,
    limits: Pick<TransactionLimits, 'upTo'>,
  ): MaybePromise<HistoryPosition | undefined> {
    return this.#find(limits, (store, within) => store.transactionPosition(hash, within));
  }

  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter): MaybePromise<HistoryPage> {
    const { shared } = this;
    if (shared === undefined || this.#isLocal(query.fromBlock ?? 0))
      return this.#local.addressTraces(query, maxBytes, json);
    const { length } = json;
    return this.#steady(async (start) => {
      json.length = length;
      const ranged = { ...query, ...(await this.#range(shared, query, start)) };
      const page = await pageOf(ranged, start, {
        local: (asked) => this.#local.addressTraces(asked, maxBytes, json),
        shared: (asked) => shared.addressTraces(asked, { maxBytes, json }),
      });
      return { ...page, range: { fromBlock: ranged.fromBlock, toBlock: ranged.toBlock } };
    });
  }

  frames<T>(query: FramesQuery, decode: DecodeFrame<T>): MaybePromise<FramesPage<T>> {
    const { shared } = this;
    if (shared === undefined || this.#isLocal(query.fromBlock)) return this.#local.frames(query, decode);
    return this.#steady((start) =>
      pageOf(query, start, {
        local: (asked) => this.#local.frames(asked, decode),
        shared: (asked) => shared.frames({ ...asked, decode }),
      }),
    );
  }

  addressSummary(query: SummaryQuery): MaybePromise<HistorySummary> {
    const { shared } = this;
    if (shared === undefined || this.#isLocal(query.fromBlock ?? 0)) return this.#local.addressSummary(query);
    return this.#steady(async (start) => {
      const ranged = { ...query, ...(await this.#range(shared, query, start)) };
      if (start === undefined || ranged.toBlock < start.number)
        return shared.addressSummary({ query: ranged });
      if (ranged.fromBlock >= start.number) return this.#local.addressSummary(ranged);
      return summaryOfBoth({ local: this.#local, shared }, ranged, start);
    });
  }

  fetching(fetch: FetchBlocks): TraceReader {
    const { shared, run } = this;
    if (shared === undefined) return this;
    return new CombinedTraceReader({ local: this.#local, shared: () => shared.fetching(fetch), run });
  }

  async close(): Promise<void> {
    await this.#local.close();
  }

  #isLocal(blockNumber: number): boolean {
    const { start } = this.run;
    return start !== undefined && blockNumber >= start.number;
  }

  #storeOf(blockNumber: number): Pick<TraceReader, 'block' | 'lastBlock' | 'blockTraces'> | undefined {
    return this.#isLocal(blockNumber) ? this.#local : this.shared;
  }

  /** Runs a read of both stores. Repeats it if the first block of the local index has changed meanwhile. */
  async #steady<T>(read: (start: RunStart | undefined) => Promise<T>): Promise<T> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const before = this.run.start;
      const result = await read(before);
      const { start } = this.run;
      if (start?.number === before?.number && start?.hash === before?.hash) return result;
    }
    throw new TraceStoreUnavailable('the local index changed during the read');
  }

  /** Returns the range of a query. The default of `fromBlock` is the lowest block of both stores. */
  async #range(
    shared: SharedReader,
    { fromBlock, toBlock }: { readonly fromBlock?: number; readonly toBlock: number },
    start: RunStart | undefined,
  ): Promise<BlockRange> {
    if (fromBlock !== undefined) return { fromBlock, toBlock };
    return {
      fromBlock: Math.min((await shared.lowest()) ?? toBlock, start?.number ?? toBlock, toBlock),
      toBlock,
    };
  }

  /** Looks up a transaction in the local index, then in the shared index below it. */
  #find<T, L extends Pick<TransactionLimits, 'upTo'>>(
    limits: L,
    read: (
      store: Pick<TraceReader, 'transactionTraces' | 'transactionTrace' | 'transactionPosition'>,
      limits: L,
    ) => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined> {
    return mapMaybe(read(this.#local, limits), (found) => {
      const { shared } = this;
      if (found !== undefined || shared === undefined) return found;
      // Blocks that were removed since the first look-up are read from the shared index.
      const end = (this.run.start?.number ?? Number.MAX_SAFE_INTEGER) - 1;
      return read(shared, { ...limits, upTo: Math.min(limits.upTo ?? end, end) });
    });
  }

  async #filterBoth(filter: TraceFilter, reading: FilterBoth): Promise<Uint8Array | undefined> {
    const { start, shared, maxBytes, json, nextTurn } = reading;
    if (start !== undefined && filter.fromBlock >= start.number)
      return this.#local.filter(filter, maxBytes, { json, nextTurn });
    if (start === undefined || filter.toBlock < start.number) {
      const tip = start?.number === filter.toBlock + 1 ? tipBelow(start) : undefined;
      return (await shared.filter(filter, { maxBytes, json, tip }))?.bytes;
    }
    const older = { ...filter, toBlock: start.number - 1 };
    const tip = tipBelow(start);
    const part = await shared.filter(older, { maxBytes, tip }).catch(async (error: unknown) => {
      if (filter.wantsAll) await this.#checkCount(filter, { ...reading, start });
      throw error;
    });
    if (part === undefined) return undefined;
    const rest = await this.#rest(filter, { start, part, maxBytes, nextTurn });
    return rest && joined(part.bytes, rest, json ?? new JsonWriter());
  }

  /** Throws TooManyTracesError if both parts have too many matches together, although one part is too large. */
  async #checkCount(
    filter: TraceFilter,
    { start, shared, nextTurn }: FilterBoth & { start: RunStart },
  ): Promise<void> {
    const older = { ...filter, toBlock: start.number - 1, count: 0, wantsAll: false };
    const counted = await shared.filter(older, { maxBytes: EMPTY_ARRAY_BYTES });
    if (counted === undefined) return;
    const found = Math.max(0, counted.matches - filter.after);
    const part = { ...counted, found };
    await this.#rest(filter, { start, part, maxBytes: Number.MAX_SAFE_INTEGER, nextTurn });
  }

  /** Returns the matches in the local part of a filter's range. */
  async #rest(
    filter: TraceFilter,
    { start, part, maxBytes, nextTurn }: RestReading,
  ): Promise<Uint8Array | undefined> {
    const { bytes, found, matches } = part;
    const used = bytes.length === EMPTY_ARRAY_BYTES ? 0 : bytes.length - COMMA.length;
    const left = Math.max(EMPTY_ARRAY_BYTES, maxBytes - used);
    const rest = {
      ...{ ...filter, fromBlock: start.number, count: filter.count - found },
      after: Math.max(0, filter.after - matches),
    };
    try {
      return await this.#local.filter(rest, left, { nextTurn });
    } catch (error) {
      if (error instanceof TooManyTracesError) throw new TooManyTracesError(filter.count);
      throw error instanceof AnswerTooLargeError ? new AnswerTooLargeError(maxBytes) : error;
    }
  }
}

interface FilterBoth extends FilterOptions {
  readonly start: RunStart | undefined;
  readonly shared: SharedReader;
  readonly maxBytes: number;
}

interface RestReading extends Pick<FilterBoth, 'maxBytes' | 'nextTurn'> {
  readonly start: RunStart;
  readonly part: FilterPart;
}

/** Joins two JSON arrays. */
function joined(first: Uint8Array, second: Uint8Array, json: JsonWriter): Uint8Array {
  json.reset();
  const isOneEmpty = [first, second].some(({ length }) => length === EMPTY_ARRAY_BYTES);
  json.verbatim(Buffer.from(first), 0, first.length - 1);
  if (!isOneEmpty) json.verbatim(COMMA, 0, COMMA.length);
  json.verbatim(Buffer.from(second), 1, second.length);
  return json.written();
}
