import { setTimeout as pause } from 'node:timers/promises';
import {
  AnswerTooLargeError,
  assertNotTooMany,
  type ChainIdentity,
  type FramesPage,
  type FramesQuery,
  findFrame,
  firstTraceFrom,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  type IndexChange,
  JsonWriter,
  type StoredBlock,
  type SummaryQuery,
  searchLimit,
  TRACES_PER_CHUNK,
  type TraceFilter,
  type TraceStore,
  type TransactionLimits,
  type UnavailableBlock,
  writeTrace,
} from '../../traces/index.ts';
import type { ClickHouse } from './connection/clickHouse.ts';
import { IncompleteReplica } from './connection/failures.ts';
import type { History } from './history/history.ts';
import type { ChainReader, RangeState } from './reads/chainReader.ts';
import type { ChunkReader, Chunks } from './reads/chunks.ts';
import { findMatchingTraces, isUnrestricted, positionsByCount } from './reads/matchingTraces.ts';
import { findTransaction, type RootFrame } from './reads/transactions.ts';
import { tracesAsJson } from './reads/writeTraces.ts';
import type { Tables } from './tables/tables.ts';
import type { ChunkedBlock, TracePosition } from './tables/tracePosition.ts';
import type { ChangeTarget } from './writes/writer.ts';

/**
 * Maximum number of times that a read is tried if a replica is incomplete. The next try may use another replica, or
 * see a new state of the chain.
 */
const MAX_READS = 4;
const READ_AGAIN_MS = 50;
/**
 * Number of traces to collect for one change. Each insert creates table parts that are merged later, so large inserts
 * cause fewer merges. 65,536 traces need 60 MB.
 */
const TRACES_PER_CHANGE = 65_536;

export interface TraceStoreParts {
  readonly clickHouse: ClickHouse;
  readonly tables: Tables;
  readonly reader: ChainReader;
  readonly chunks: ChunkReader;
  readonly history: History;
  readonly writer: Pick<ChangeTarget, 'bind' | 'apply'>;
  readonly close: () => Promise<void>;
}

/** Trace index in ClickHouse. PostgreSQL records which blocks and rows are valid. */
export class ClickHouseTraceStore implements TraceStore {
  readonly tracesPerChange = TRACES_PER_CHANGE;
  readonly #parts: TraceStoreParts;

  constructor(parts: TraceStoreParts) {
    this.#parts = parts;
  }

  chain(): Promise<ChainIdentity | undefined> {
    return this.#parts.reader.identity();
  }

  bindChain(identity: ChainIdentity): Promise<void> {
    return this.#parts.writer.bind(identity);
  }

  head(): Promise<StoredBlock | undefined> {
    return this.#parts.reader.lastBlock(Number.MAX_SAFE_INTEGER);
  }

  finalizedNumber(): Promise<number | undefined> {
    return this.#parts.reader.finalized();
  }

  async block(blockNumber: number): Promise<StoredBlock | undefined> {
    return (await this.#parts.reader.blocks([blockNumber]))[0];
  }

  lastBlock(upTo: number): Promise<StoredBlock | undefined> {
    return this.#parts.reader.lastBlock(upTo);
  }

  firstMissing(fromBlock: number, toBlock: number): Promise<number | undefined> {
    return this.#parts.reader.firstMissing(fromBlock, toBlock);
  }

  unavailable(fromBlock: number, toBlock: number, max: number): Promise<readonly UnavailableBlock[]> {
    return this.#parts.reader.unavailable(fromBlock, toBlock, max);
  }

  countMissing(fromBlock: number, toBlock: number): Promise<number> {
    return this.#parts.reader.countMissing(fromBlock, toBlock);
  }

  filter(filter: TraceFilter, maxBytes: number, json?: JsonWriter): Promise<Uint8Array | undefined> {
    return retryIncomplete(async () => {
      const { reader, chunks } = this.#parts;
      const state = await reader.range(filter.fromBlock, filter.toBlock);
      if (state === undefined) return undefined;
      const { blockHash, fromBlock } = filter;
      if (blockHash !== undefined && state.span.block(fromBlock).hash !== blockHash) return undefined;
      const places = await this.#placesOf(filter, state);
      const read = await chunks.at(places, (number) => state.span.block(number), maxBytes);
      return tracesAsJson({ places, chunks: read, maxBytes, json });
    });
  }

  blockTraces(blockNumber: number, maxBytes: number): Promise<Buffer | undefined> {
    return retryIncomplete(async () => {
      const block = await this.#chunkedBlock(blockNumber);
      if (block === undefined) return undefined;
      const chunks = await this.#parts.chunks.ofBlock(block, 0, maxBytes);
      return tracesAsJson({ places: placesFrom(block, 0, block.traces), chunks, maxBytes });
    });
  }

  transactionTraces(hash: Hash, { maxBytes, upTo }: TransactionLimits): Promise<Buffer | undefined> {
    return retryIncomplete(async () => {
      const found = await this.#transaction(hash, upTo, maxBytes);
      if (found === undefined) return undefined;
      const { root, chunks, chunkAt } = found;
      const { block, traceIndex, transactionPosition } = root;
      const next = { transactionPosition: transactionPosition + 1, traceAddress: [] };
      const end = firstTraceFrom(chunkAt, { first: traceIndex + 1, end: block.traces }, next);
      return tracesAsJson({ places: placesFrom(block, traceIndex, end), chunks, maxBytes });
    });
  }

  transactionTrace(
    hash: Hash,
    traceAddress: readonly number[],
    { maxBytes, upTo }: TransactionLimits,
  ): Promise<Buffer | null | undefined> {
    return retryIncomplete(async () => {
      const found = await this.#transaction(hash, upTo, Number.MAX_SAFE_INTEGER);
      if (found === undefined) return undefined;
      const { block, traceIndex, transactionPosition } = found.root;
      const place = { transactionPosition, traceAddress };
      const index = findFrame(found.chunkAt, { first: traceIndex, end: block.traces }, place);
      if (index === undefined) return null;
      const json = new JsonWriter();
      const { readData } = found.chunks;
      writeTrace(json, found.chunkAt(index), index % TRACES_PER_CHUNK, block.number, readData);
      if (json.textBytes > maxBytes) throw new AnswerTooLargeError(maxBytes);
      return json.copy();
    });
  }

  addressTraces(query: HistoryQuery, maxBytes: number, json: JsonWriter): Promise<HistoryPage> {
    return retryIncomplete(() => this.#parts.history.page(query, maxBytes, json));
  }

  addressSummary(query: SummaryQuery): Promise<HistorySummary> {
    return retryIncomplete(() => this.#parts.history.summary(query));
  }

  frames(query: FramesQuery): Promise<FramesPage> {
    return retryIncomplete(() => this.#parts.history.frames(query));
  }

  transactionPosition(
    hash: Hash,
    { upTo }: Pick<TransactionLimits, 'upTo'>,
  ): Promise<HistoryPosition | undefined> {
    return retryIncomplete(async () => {
      const root = await findTransaction(this.#parts, hash, upTo);
      if (root === undefined) return undefined;
      const { block, traceIndex } = root;
      return { blockNumber: block.number, traceIndex, blockHash: block.hash };
    });
  }

  apply(change: IndexChange): Promise<void> {
    return this.#parts.writer.apply(change);
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  async #placesOf(filter: TraceFilter, state: RangeState): Promise<TracePosition[]> {
    const searched = { ...filter, count: searchLimit(filter) };
    if (searched.count === 0) return [];
    const places = isUnrestricted(filter)
      ? positionsByCount(searched, state)
      : await findMatchingTraces(this.#parts, searched, state);
    assertNotTooMany(filter, places.length);
    return places;
  }

  async #chunkedBlock(number: number): Promise<ChunkedBlock | undefined> {
    const state = await this.#parts.reader.range(number, number);
    return state?.span.block(number);
  }

  /** Returns the root frame of a transaction, and all chunks of its block from the frame's chunk on. */
  async #transaction(
    hash: Hash,
    upTo: number | undefined,
    maxBytes: number,
  ): Promise<FoundTransaction | undefined> {
    const root = await findTransaction(this.#parts, hash, upTo);
    if (root === undefined) return undefined;
    const { block, traceIndex } = root;
    const chunks = await this.#parts.chunks.ofBlock(
      block,
      Math.floor(traceIndex / TRACES_PER_CHUNK),
      maxBytes,
    );
    return {
      root,
      chunks,
      chunkAt: (index) => chunks.containing({ number: block.number, traceIndex: index }),
    };
  }
}

interface FoundTransaction {
  readonly root: RootFrame;
  readonly chunks: Chunks;
  readonly chunkAt: (traceIndex: number) => Buffer;
}

const placesFrom = ({ number }: ChunkedBlock, first: number, end: number): TracePosition[] =>
  Array.from({ length: end - first }, (_, i) => ({ number, traceIndex: first + i }));

/** Runs a read, and repeats it from the beginning if a replica was incomplete. Finally throws the last error. */
async function retryIncomplete<T>(read: () => Promise<T>): Promise<T> {
  for (let reads = 1; ; reads++)
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof IncompleteReplica) || reads === MAX_READS) throw error;
      await pause(reads * READ_AGAIN_MS);
    }
}
