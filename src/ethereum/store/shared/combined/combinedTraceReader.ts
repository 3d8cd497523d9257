import {
  AnswerTooLargeError,
  type BlockRange,
  type ChainIdentity,
  type FramesPage,
  type FramesQuery,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  JsonWriter,
  type MaybePromise,
  mapMaybe,
  type StoredBlock,
  type SummaryQuery,
  TooManyTracesError,
  type TraceFilter,
  type TraceReader,
  type TransactionLimits,
  type UnavailableBlock,
} from '../../../traces/index.ts';
import { TraceStoreUnavailable, UnprovenRead } from '../connection/failures.ts';
import type { FilterPart } from '../reads/filterPart.ts';
import type { SharedReader } from '../sharedReader.ts';
import { type BothStores, framesPage, historyPage, summaryOfBoth } from './combinedHistories.ts';
import { LocalRun, type RunStart } from './localRun.ts';

/** Maximum number of times that a read starts again because the border between the stores moved. */
const MAX_READS = 4;
const EMPTY_ARRAY_BYTES = 2;
const COMMA = Buffer.from(',');

export interface CombinedReaderDependencies {
  readonly local: TraceReader;
  /** Returns the reader of the shared index; undefined while the chain is not known yet. */
  readonly shared: () => SharedReader | undefined;
}

/**
 * Reads the newest blocks from a local index, and older blocks from the shared index. A result with blocks of both is
 * joined at the lowest block of the local index, whose parent both know.
 */
export class CombinedTraceReader implements TraceReader {
  protected readonly run: LocalRun;
  readonly #local: TraceReader;
  readonly #shared: () => SharedReader | undefined;

  constructor({ local, shared }: CombinedReaderDependencies) {
    this.#local = local;
    this.#shared = shared;
    this.run = new LocalRun(local);
  }

  /** To be called when another process may have changed the local index. */
  changed(): void {
    this.run.changed();
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
    return this.#isLocal(blockNumber) ? this.#local.block(blockNumber) : this.#shared()?.block(blockNumber);
  }

  lastBlock(upTo: number): MaybePromise<StoredBlock | undefined> {
    return this.#isLocal(upTo) ? this.#local.lastBlock(upTo) : this.#shared()?.lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): MaybePromise<number | undefined> {
    if (fromBlock > toBlock) return undefined;
    if (this.#isLocal(fromBlock)) return this.#local.firstMissing(fromBlock, toBlock);
    const shared = this.#shared();
    if (shared === undefined) return fromBlock;
    const start = this.run.start?.number ?? toBlock + 1;
    return shared
      .firstMissing(fromBlock, Math.min(toBlock, start - 1))
      .then((missing) => missing ?? (start > toBlock ? undefined : this.#local.firstMissing(start, toBlock)));
  }

  async unavailable(fromBlock: number, toBlock: number, max: number): Promise<readonly UnavailableBlock[]> {
    const start = this.run.start?.number ?? toBlock + 1;
    const older =
      fromBlock < start
        ? ((await this.#shared()?.unavailable(fromBlock, Math.min(toBlock, start - 1), max)) ?? [])
        : [];
    if (start > toBlock || older.length >= max) return older;
    const newer = await this.#local.unavailable(Math.max(fromBlock, start), toBlock, max - older.length);
    return [...older, ...newer];
  }

  filter(filter: TraceFilter, maxBytes: number, json?: JsonWriter): MaybePromise<Uint8Array | undefined> {
    if (this.#isLocal(filter.fromBlock)) return this.#local.filter(filter, maxBytes, json);
    return this.#filterBoth(filter, maxBytes, json);
  }

  blockTraces(blockNumber: number, maxBytes: number): MaybePromise<Buffer | undefined> {
    return this.#isLocal(blockNumber)
      ? this.#local.blockTraces(blockNumber, maxBytes)
      : this.#shared()?.blockTraces(blockNumber, maxBytes);
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
    const both = this.#both(query);
    if (both === undefined) return this.#local.addressTraces(query, maxBytes, json);
    return this.#range(query).then((range) =>
      'start' in both
        ? historyPage(both, { query, range }, { maxBytes, json })
        : both.shared.addressTraces({ query, range }, { maxBytes, json }),
    );
  }

  frames(query: FramesQuery): MaybePromise<FramesPage> {
    const both = this.#both(query);
    if (both === undefined) return this.#local.frames(query);
    return 'start' in both ? framesPage(both, query) : both.shared.frames({ query });
  }

  addressSummary(query: SummaryQuery): MaybePromise<HistorySummary> {
    const both = this.#both(query);
    if (both === undefined) return this.#local.addressSummary(query);
    return this.#range(query).then((range) => {
      if (!('start' in both) || range.toBlock < both.start.number)
        return both.shared.addressSummary({ query, range });
      if (range.fromBlock >= both.start.number) return this.#local.addressSummary({ ...query, ...range });
      return summaryOfBoth(both, { query, range });
    });
  }

  async close(): Promise<void> {
    await this.#local.close();
  }

  #isLocal(blockNumber: number): boolean {
    const { start } = this.run;
    return start !== undefined && blockNumber >= start.number;
  }

  /** Returns the stores for a range; undefined if only the local index is needed, or can be asked. */
  #both({
    fromBlock,
  }: {
    readonly fromBlock?: number;
  }): BothStores | Pick<BothStores, 'local' | 'shared'> | undefined {
    const shared = this.#shared();
    const { start } = this.run;
    if (shared === undefined || (fromBlock !== undefined && this.#isLocal(fromBlock))) return undefined;
    return { local: this.#local, shared, ...(start && { start }) };
  }

  /** Returns the range of a query. The default of `fromBlock` is the lowest block of both stores. */
  async #range({
    fromBlock,
    toBlock,
  }: {
    readonly fromBlock?: number;
    readonly toBlock: number;
  }): Promise<BlockRange> {
    if (fromBlock !== undefined) return { fromBlock, toBlock };
    const lowest = Math.min((await this.#shared()?.lowest()) ?? toBlock, this.run.start?.number ?? toBlock);
    return { fromBlock: Math.min(lowest, toBlock), toBlock };
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
      const shared = this.#shared();
      if (found !== undefined || shared === undefined) return found;
      const start = this.run.start?.number ?? Number.MAX_SAFE_INTEGER;
      return read(shared, { ...limits, upTo: Math.min(limits.upTo ?? start - 1, start - 1) });
    });
  }

  async #filterBoth(
    filter: TraceFilter,
    maxBytes: number,
    json?: JsonWriter,
  ): Promise<Uint8Array | undefined> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const { start } = this.run;
      if (start !== undefined && filter.fromBlock >= start.number)
        return this.#local.filter(filter, maxBytes, json);
      const isJoined = start !== undefined && filter.toBlock >= start.number;
      const within = isJoined ? { ...filter, toBlock: start.number - 1 } : filter;
      const part = await this.#shared()
        ?.filter(within, { maxBytes, json: isJoined ? undefined : json })
        .catch(async (error: unknown) => {
          if (isJoined && filter.wantsAll) await this.#checkCount(filter, start);
          throw error;
        });
      if (part === undefined) return undefined;
      if (start !== undefined && within.toBlock === start.number - 1) checkJoint(part, start);
      if (!isJoined) return part.bytes;
      const rest = await this.#rest(filter, { start, part, maxBytes });
      // If the border moved, the local part may belong to another range or chain.
      this.run.changed();
      if (this.run.start?.number === start.number && this.run.start.hash === start.hash)
        return rest && joined(part.bytes, rest, json ?? new JsonWriter());
    }
    throw new TraceStoreUnavailable('the local index changed during the read');
  }

  /** Throws TooManyTracesError if both parts have too many matches together, although one part is too large. */
  async #checkCount(filter: TraceFilter, start: RunStart): Promise<void> {
    const older = { ...filter, toBlock: start.number - 1, count: 0, wantsAll: false };
    const counted = await this.#shared()?.filter(older, { maxBytes: EMPTY_ARRAY_BYTES });
    if (counted === undefined) return;
    const found = Math.max(0, counted.matches - filter.after);
    await this.#rest(filter, { start, part: { ...counted, found }, maxBytes: Number.MAX_SAFE_INTEGER });
  }

  /** Returns the matches in the local part of a filter's range. */
  async #rest(
    filter: TraceFilter,
    { start, part, maxBytes }: { start: RunStart; part: FilterPart; maxBytes: number },
  ): Promise<Uint8Array | undefined> {
    const { bytes, found, matches } = part;
    const used = bytes.length === EMPTY_ARRAY_BYTES ? 0 : bytes.length - COMMA.length;
    const left = Math.max(EMPTY_ARRAY_BYTES, maxBytes - used);
    const rest = {
      ...{ ...filter, fromBlock: start.number, count: filter.count - found },
      after: Math.max(0, filter.after - matches),
    };
    try {
      return await this.#local.filter(rest, left);
    } catch (error) {
      if (error instanceof TooManyTracesError) throw new TooManyTracesError(filter.count);
      throw error instanceof AnswerTooLargeError ? new AnswerTooLargeError(maxBytes) : error;
    }
  }
}

/** Throws UnprovenRead if the shared part does not end with the parent of the first local block. */
function checkJoint({ last }: FilterPart, { number, parentHash }: RunStart): void {
  if (last.hash !== parentHash)
    throw new UnprovenRead(
      `block ${number - 1} is ${last.hash} in the shared index, but ${parentHash} in the local index`,
    );
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
