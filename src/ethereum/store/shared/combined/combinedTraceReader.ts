import {
  AnswerTooLargeError,
  type BlockRange,
  type ChainIdentity,
  type DecodeFrame,
  type FetchBlocks,
  type FilterOptions,
  type FramesQuery,
  type Hash,
  type HistoryQuery,
  immediate,
  JsonWriter,
  type MaybePromise,
  mapMaybe,
  type NextTurn,
  type SummaryQuery,
  TooManyTracesError,
  type TraceFilter,
  type TraceReader,
  type TransactionLimits,
} from '../../../traces/index.ts';
import { TraceStoreUnavailable } from '../connection/failures.ts';
import type { FilterPart } from '../reads/filterPart.ts';
import type { CommonReads, SharedReader } from '../sharedReader.ts';
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

  chain() {
    return this.#local.chain();
  }

  head() {
    return this.#local.head();
  }

  finalizedNumber() {
    return this.#local.finalizedNumber();
  }

  block(blockNumber: number) {
    return this.#storeOf(blockNumber)?.block(blockNumber);
  }

  lastBlock(upTo: number) {
    return this.#storeOf(upTo)?.lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): MaybePromise<number | undefined> {
    if (fromBlock > toBlock) return undefined;
    const local = (from = fromBlock) => this.#local.firstMissing(from, toBlock);
    return this.#either(fromBlock, local, async (shared, start) => {
      const end = lastShared(toBlock, start);
      const missing = await shared.firstMissing(fromBlock, end);
      return missing ?? (end < toBlock ? local(end + 1) : undefined);
    });
  }

  unavailable(fromBlock: number, toBlock: number, max: number) {
    const local = (from = fromBlock, most = max) => this.#local.unavailable(from, toBlock, most);
    if (fromBlock > toBlock) return local();
    return this.#either(fromBlock, local, async (shared, start) => {
      const end = lastShared(toBlock, start);
      const older = await shared.unavailable(fromBlock, end, max);
      if (end === toBlock || older.length >= max) return older;
      return [...older, ...(await local(end + 1, max - older.length))];
    });
  }

  filter(filter: TraceFilter, maxBytes: number, options?: FilterOptions) {
    const local = () => this.#local.filter(filter, maxBytes, options);
    return this.#either(filter.fromBlock, local, (shared, start) =>
      this.#filterBoth(filter, { start, shared, maxBytes, ...options }),
    );
  }

  blockTraces(blockNumber: number, maxBytes: number, nextTurn?: NextTurn) {
    return this.#storeOf(blockNumber)?.blockTraces(blockNumber, maxBytes, nextTurn);
  }

  transactionTraces(hash: Hash, limits: TransactionLimits) {
    return this.#find(limits, (store, within) => store.transactionTraces(hash, within));
  }

  transactionTrace(hash: Hash, traceAddress: readonly number[], limits: TransactionLimits) {
    return this.#find(limits, (store, within) => store.transactionTrace(hash, traceAddress, within));
  }

  transactionPosition(hash: Hash, limits: Pick<TransactionLimits, 'upTo'>) {
    return this.#find(limits, (store, within) => store.transactionPosition(hash, within));
  }

  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter) {
    const { length } = json;
    const local = (asked = query) => this.#local.addressTraces(asked, maxBytes, json);
    return this.#either(query.fromBlock ?? 0, local, async (shared, start) => {
      json.length = length;
      const range = await rangeOf(query, shared, start);
      const page = await pageOf({ ...query, ...range }, start, {
        local,
        shared: (asked) => shared.addressTraces(asked, { maxBytes, json }),
      });
      return { ...page, range };
    });
  }

  frames<T>(query: FramesQuery, decode: DecodeFrame<T>) {
    const local = (asked = query) => this.#local.frames(asked, decode);
    return this.#either(query.fromBlock, local, (shared, start) =>
      pageOf(query, start, { local, shared: (asked) => shared.frames({ ...asked, decode }) }),
    );
  }

  addressSummary(query: SummaryQuery) {
    const local = () => this.#local.addressSummary(query);
    return this.#either(query.fromBlock ?? 0, local, async (shared, start) => {
      const ranged = { ...query, ...(await rangeOf(query, shared, start)) };
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

  #storeOf(blockNumber: number): CommonReads | undefined {
    return this.#isLocal(blockNumber) ? this.#local : this.shared;
  }

  /**
   * Runs `local` if the local index has all blocks from `fromBlock` on, or if the chain is not known; otherwise `both`.
   * Runs `both` again if the first block of the local index changed during the read.
   */
  #either<T>(
    fromBlock: number,
    local: () => MaybePromise<T>,
    both: (shared: SharedReader, start: RunStart | undefined) => Promise<T>,
  ): MaybePromise<T> {
    const { shared } = this;
    if (shared === undefined || this.#isLocal(fromBlock)) return local();
    return this.#steady((start) => both(shared, start));
  }

  async #steady<T>(read: (start: RunStart | undefined) => Promise<T>): Promise<T> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const before = this.run.start;
      const result = await read(before);
      const { start } = this.run;
      if (start?.number === before?.number && start?.hash === before?.hash) return result;
    }
    throw new TraceStoreUnavailable('the local index changed during the read');
  }

  /** Looks up a transaction in the local index, then in the shared index below it. */
  #find<T, L extends Pick<TransactionLimits, 'upTo'>>(
    limits: L,
    read: (store: CommonReads, limits: L) => MaybePromise<T | undefined>,
  ): MaybePromise<T | undefined> {
    return mapMaybe(read(this.#local, limits), (found) => {
      const { shared } = this;
      if (found !== undefined || shared === undefined) return found;
      // Blocks that were removed since the first look-up are read from the shared index.
      return read(shared, {
        ...limits,
        upTo: lastShared(limits.upTo ?? Number.MAX_SAFE_INTEGER, this.run.start),
      });
    });
  }

  async #filterBoth(filter: TraceFilter, reading: FilterBoth): Promise<Uint8Array | undefined> {
    const { start, shared, maxBytes, json, nextTurn } = reading;
    if (start !== undefined && filter.fromBlock >= start.number)
      return this.#local.filter(filter, maxBytes, { json, nextTurn });
    const older = { ...filter, toBlock: lastShared(filter.toBlock, start) };
    const tip = start?.number === older.toBlock + 1 ? tipBelow(start) : undefined;
    if (start === undefined || older.toBlock === filter.toBlock)
      return (await shared.filter(filter, { maxBytes, json, tip }))?.bytes;
    const part = await shared.filter(older, { maxBytes, tip }).catch(async (error: unknown) => {
      if (filter.wantsAll) {
        // If both parts have too many matches together, that is the error, although one part is too large.
        const none = { ...older, count: 0, wantsAll: false };
        const counted = await shared.filter(none, { maxBytes: EMPTY_ARRAY_BYTES });
        const found = Math.max(0, (counted?.matches ?? 0) - filter.after);
        const all = { start, maxBytes: Number.MAX_SAFE_INTEGER, nextTurn };
        if (counted !== undefined) await this.#rest(filter, { ...counted, found }, all);
      }
      throw error;
    });
    const rest = part && (await this.#rest(filter, part, { start, maxBytes, nextTurn }));
    return part && rest && joined(part.bytes, rest, json ?? new JsonWriter());
  }

  /** Returns the matches in the local part of a filter's range. */
  async #rest(
    filter: TraceFilter,
    { bytes, found, matches }: FilterPart,
    { start, maxBytes, nextTurn }: Omit<FilterBoth, 'shared'> & { readonly start: RunStart },
  ): Promise<Uint8Array | undefined> {
    const used = bytes.length === EMPTY_ARRAY_BYTES ? 0 : bytes.length - COMMA.length;
    const left = Math.max(EMPTY_ARRAY_BYTES, maxBytes - used);
    const rest = {
      ...filter,
      fromBlock: start.number,
      count: filter.count - found,
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

/** Returns the last block of a range that ends at `toBlock` and is not in the local index. */
const lastShared = (toBlock: number, start: RunStart | undefined): number =>
  Math.min(toBlock, (start?.number ?? toBlock + 1) - 1);

/** Returns the range of a query. The default of `fromBlock` is the lowest block of both stores. */
async function rangeOf(
  { fromBlock, toBlock }: { readonly fromBlock?: number; readonly toBlock: number },
  shared: SharedReader,
  start: RunStart | undefined,
): Promise<BlockRange> {
  if (fromBlock !== undefined) return { fromBlock, toBlock };
  const lowest = (await shared.lowest()) ?? toBlock;
  return { fromBlock: Math.min(lowest, start?.number ?? toBlock, toBlock), toBlock };
}

/** Joins two JSON arrays. */
function joined(first: Uint8Array, second: Uint8Array, json: JsonWriter): Uint8Array {
  json.reset();
  const isOneEmpty = [first, second].some(({ length }) => length === EMPTY_ARRAY_BYTES);
  json.verbatim(first, 0, first.length - 1);
  if (!isOneEmpty) json.verbatim(COMMA, 0, COMMA.length);
  json.verbatim(second, 1, second.length);
  return json.written();
}
