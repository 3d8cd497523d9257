import {
  AnswerTooLargeError,
  type FramesPage,
  type FramesQuery,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  hasFailed,
  internalFrameAt,
  type JsonWriter,
  MAX_TRACES_PER_BLOCK,
  type Order,
  type SummaryQuery,
  TRACES_PER_CHUNK,
} from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { IncompleteReplica } from '../connection/failures.ts';
import type { ChainReader, TimedBlock } from '../reads/chainReader.ts';
import type { ChunkReader } from '../reads/chunks.ts';
import { attemptOf } from '../reads/rangeBlocks.ts';
import { upTo, type WideState } from '../reads/wideReader.ts';
import { appendTraces } from '../reads/writeTraces.ts';
import type { Tables } from '../tables/tables.ts';
import { type FoundTrace, isEmpty, type RowsQuery, type SearchResult, searchRows } from './addressRows.ts';
import { searchBlocks } from './blockRows.ts';
import { summarize } from './summary.ts';

/** Maximum number of ranges of missing blocks that one page of results reports. */
const MAX_MISSING_RANGES = 1_000;
/** Maximum number of blocks that are searched for one page, because the rows of all their segments are counted. */
const MAX_PAGE_BLOCKS = 4_096 * 1_024;
const CHUNK_BYTES = 64 * 1024 * 1024;

export interface HistoryParts {
  readonly clickHouse: ClickHouse;
  readonly tables: Tables;
  readonly reader: ChainReader;
  readonly chunks: ChunkReader;
}

/** Reads the histories of addresses from ClickHouse, and the state of their blocks from PostgreSQL. */
export class History {
  readonly #parts: HistoryParts;

  constructor(parts: HistoryParts) {
    this.#parts = parts;
  }

  async page(query: HistoryQuery, maxBytes: number, json: JsonWriter): Promise<HistoryPage> {
    const state = await this.#state(query);
    const looked = await this.#look({ ...query, cursor: query.cursor }, state);
    const blocks = await this.#blocksOf(looked.found, state);
    const chunks = await this.#parts.chunks.at(looked.found, (number) => blocks.get(number), CHUNK_BYTES);
    const taken = appendTraces(json, { places: looked.found, chunks, maxBytes });
    if (taken === 0 && looked.found.length > 0) throw new AnswerTooLargeError(maxBytes);
    const isFull = taken === query.limit || taken < looked.found.length;
    const last = isFull ? looked.found[taken - 1] : looked.last;
    return { range: state.range, ...(await this.#end(state, query.order, { last, blocks })) };
  }

  async frames(query: FramesQuery): Promise<FramesPage> {
    const { address, order, skip, limit, cursor } = query;
    const state = await this.#state(query);
    const addresses = address === undefined ? ('all' as const) : [address];
    const looked = await this.#look({ ...query, addresses, cursor }, state);
    const { found } = looked;
    const blocks = await this.#blocksOf(found, state);
    const given = found.slice(skip);
    const chunks = await this.#parts.chunks.at(given, (number) => blocks.get(number), CHUNK_BYTES);
    const frames = given.map((place) => ({
      ...internalFrameAt(chunks.containing(place), place.traceIndex % TRACES_PER_CHUNK),
      blockNumber: place.number,
      blockHash: blocks.get(place.number)?.hash ?? ('0x' as Hash), // #blocksOf has checked that the block is there
      timestamp: blocks.get(place.number)?.timestamp ?? 0,
      hasFailed: hasFailed(place.attributes),
    }));
    const last = found.length === limit ? found.at(-1) : looked.last;
    return { frames, found: found.length, ...(await this.#end(state, order, { last, blocks })) };
  }

  async summary({ address, fromBlock, toBlock }: SummaryQuery): Promise<HistorySummary> {
    const state = await this.#parts.reader.wide({
      ...{ fromBlock, toBlock, order: 'desc', cursor: undefined },
      ...{ maxMissing: MAX_MISSING_RANGES, maxBlocks: Number.MAX_SAFE_INTEGER },
      isWhole: true,
    });
    return summarize(this.#parts, address, state);
  }

  #state({ fromBlock, toBlock, order, cursor }: Asked): Promise<WideState> {
    return this.#parts.reader.wide({
      ...{ fromBlock, toBlock, order, cursor },
      ...{ maxMissing: MAX_MISSING_RANGES, maxBlocks: MAX_PAGE_BLOCKS },
    });
  }

  /**
   * Searches the rows of the given addresses. If the query has none, reads the blocks one by one and searches them.
   */
  async #look(
    { addresses, ...query }: Omit<RowsQuery, 'addresses'> & Pick<HistoryQuery, 'addresses'>,
    state: WideState,
  ): Promise<SearchResult> {
    if (isEmpty(state.searchRange)) return { found: [], last: undefined };
    if (addresses === 'all') return searchBlocks(this.#parts, query, state);
    return searchRows(this.#parts, { ...query, addresses }, state);
  }

  /**
   * Returns the blocks of the traces `found`. Throws IncompleteReplica if a block was replaced since `state` was
   * read.
   */
  async #blocksOf(found: readonly FoundTrace[], { attempts }: WideState): Promise<Map<number, TimedBlock>> {
    const numbers = [...new Set(found.map(({ number }) => number))];
    const blocks = await this.#parts.reader.timedBlocks(numbers);
    const isSame = (number: number): boolean => blocks.get(number)?.attempt === attemptOf(attempts, number);
    if (!numbers.every(isSame)) throw new IncompleteReplica('the chain changed during the read');
    return blocks;
  }

  /** Returns the cursor of the next page, and the missing blocks from the start of this page up to the cursor. */
  async #end(
    { missing, missingUpTo }: WideState,
    order: Order,
    {
      last,
      blocks,
    }: { last: { number: number; traceIndex: number } | undefined; blocks: ReadonlyMap<number, TimedBlock> },
  ): Promise<Pick<HistoryPage, 'next' | 'missing'>> {
    const edge = missingUpTo === undefined ? undefined : edgeOf(missingUpTo, order);
    const next = last === undefined ? edge : { blockNumber: last.number, traceIndex: last.traceIndex };
    if (next === undefined) return { next, missing };
    const known = blocks.get(next.blockNumber) ?? (await this.#parts.reader.blocks([next.blockNumber]))[0];
    const hash = known?.hash;
    return {
      next: { ...next, ...(hash !== undefined && { blockHash: hash }) },
      missing: missing.map((gap) => upTo(gap, next.blockNumber, order)).filter((gap) => !isEmpty(gap)),
    };
  }
}

interface Asked extends Pick<HistoryQuery, 'toBlock' | 'order'> {
  readonly fromBlock?: number;
  readonly cursor?: HistoryPosition;
}

const edgeOf = (blockNumber: number, order: Order): HistoryPosition => ({
  blockNumber,
  traceIndex: order === 'asc' ? MAX_TRACES_PER_BLOCK - 1 : 0,
});
