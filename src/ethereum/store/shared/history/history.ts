import {
  AnswerTooLargeError,
  type BlockRange,
  BlockReplacedError,
  type DecodeFrame,
  type FramesPage,
  type FramesQuery,
  type Hash,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type HistorySummary,
  type JsonWriter,
  MAX_TRACES_PER_BLOCK,
  type Order,
  type SummaryQuery,
  TRACES_PER_CHUNK,
} from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { UnprovenRead } from '../connection/failures.ts';
import { type BlockRows, readNumbers } from '../reads/blocks.ts';
import { readChunks } from '../reads/chunks.ts';
import type { Segments } from '../reads/segments.ts';
import { appendTraces } from '../reads/writeTraces.ts';
import type { TracePosition } from '../tables/position.ts';
import { type RowsQuery, type SearchResult, searchRows } from './addressRows.ts';
import { searchBlocks } from './blockRows.ts';
import { summarize } from './summary.ts';
import { isEmpty, pageRange, segmentsOf, upTo, type Window, windowOf } from './window.ts';

/** Maximum number of ranges of missing blocks that one page of results reports. */
const MAX_MISSING_RANGES = 1_000;
const CHUNK_BYTES = 64 * 1024 * 1024;

export interface HistoryParts {
  readonly host: ClickHouse;
  readonly chain: bigint;
  readonly segments: Segments;
}

/** A block whose hash the caller knows. A read fails if the store has another block of this number. */
export interface KnownBlock {
  readonly number: number;
  readonly hash: Hash;
}

interface Page extends SearchResult {
  readonly window: Window;
  readonly blocks: BlockRows;
}

type Asked = Omit<RowsQuery, 'addresses'> & { readonly addresses: RowsQuery['addresses'] | 'all' };

/** Appends a page of a history to `json`. */
export async function readPage(
  parts: HistoryParts,
  { query, range, tip }: { query: HistoryQuery; range: BlockRange; tip?: KnownBlock | undefined },
  { maxBytes, json }: { readonly maxBytes: number; readonly json: JsonWriter },
): Promise<HistoryPage> {
  const page = await search(parts, { query: { ...query, cursor: query.cursor }, range, tip });
  const { found } = page;
  const chunks = await readChunks(parts.host, { chain: parts.chain, maxBytes: CHUNK_BYTES }, found);
  const taken = appendTraces(json, { places: found, chunks, maxBytes });
  if (taken === 0 && found.length > 0) throw new AnswerTooLargeError(maxBytes);
  const isFull = taken === query.limit || taken < found.length;
  const last = isFull ? found[taken - 1] : page.last;
  return { range, ...(await endOf(parts, { page, order: query.order, last })) };
}

/** Query for a page of frames. `tip` is a block that the chain of the page must contain. */
export interface FramesAsked<T> {
  readonly query: FramesQuery;
  readonly tip?: KnownBlock | undefined;
  readonly decode: DecodeFrame<T>;
}

export async function readFramesPage<T>(
  parts: HistoryParts,
  { query, tip, decode }: FramesAsked<T>,
): Promise<FramesPage<T>> {
  const { address, order, skip, limit, cursor, fromBlock, toBlock } = query;
  const addresses = address === undefined ? ('all' as const) : [address];
  const page = await search(parts, {
    ...{ query: { ...query, addresses, cursor }, range: { fromBlock, toBlock }, tip },
    needsBlocks: true,
  });
  const { found, blocks } = page;
  const given = found.slice(skip);
  const chunks = await readChunks(parts.host, { chain: parts.chain, maxBytes: CHUNK_BYTES }, given);
  const frames = given.map((place) => {
    const block = blocks.get(place.number);
    if (block?.write !== place.write) throw new UnprovenRead(`ClickHouse: block ${place.number} changed`);
    return decode({
      ...{ chunk: chunks.containing(place), indexInChunk: place.traceIndex % TRACES_PER_CHUNK },
      ...{ blockNumber: place.number, blockHash: block.hash, timestamp: block.timestamp },
      attributes: () => place.attributes,
    });
  });
  const last = found.length === limit ? found.at(-1) : page.last;
  return { frames, found: found.length, ...(await endOf(parts, { page, order, last })) };
}

export async function readSummary(
  { host, chain, segments }: HistoryParts,
  { query, range, tip }: { query: SummaryQuery; range: BlockRange; tip?: KnownBlock | undefined },
): Promise<HistorySummary> {
  const asked = { range, order: 'desc' as const, cursor: undefined, maxMissing: MAX_MISSING_RANGES };
  const { summary } = await segments.prove(host, segmentsOf(range), (states) => {
    const window = { ...windowOf(asked, range, states), searchRange: range };
    const ignored = [...states.values()].flatMap((state) => state.ignored);
    return summarize(host, chain, { address: query.address, window: { ...window, ignored } });
  });
  if (tip !== undefined) checkTip(await readNumbers(host, chain, [tip.number]), tip);
  return summary;
}

/** Searches the rows of the given addresses. If the query has none, reads the blocks one by one and searches them. */
async function search(
  { host, chain, segments }: HistoryParts,
  {
    query,
    range,
    tip,
    needsBlocks = false,
  }: { query: Asked; range: BlockRange; tip?: KnownBlock | undefined; needsBlocks?: boolean },
): Promise<Page> {
  const { order, cursor, addresses } = query;
  const asked = { range, order, cursor, maxMissing: MAX_MISSING_RANGES };
  const within = pageRange(asked);
  if (isEmpty(within)) {
    const window = {
      ...{ range, missing: [], missingUpTo: undefined, searchRange: within },
      ...{ segments: segmentsOf(within), ignored: [] },
    };
    return { window, found: [], last: undefined, prints: new Map(), blocks: new Map() };
  }
  const result = await segments.prove(host, segmentsOf(within), async (states) => {
    const window = windowOf(asked, within, states);
    // The whole page range is proven, although the search may end before, where too many blocks are missing.
    const parts = { query: { ...query, addresses: [] as readonly string[] }, window };
    const found =
      addresses === 'all'
        ? await searchBlocks(host, chain, parts)
        : await searchRows(host, chain, { ...parts, query: { ...query, addresses } });
    return { ...found, window };
  });
  const numbers = [
    ...(needsBlocks ? result.found.map(({ number }) => number) : []),
    ...[cursor?.blockNumber, tip?.number].filter((number) => number !== undefined),
  ];
  const blocks = await readNumbers(host, chain, numbers);
  if (cursor?.blockHash !== undefined && blocks.get(cursor.blockNumber)?.hash !== cursor.blockHash)
    throw new BlockReplacedError(cursor.blockNumber);
  checkTip(blocks, tip);
  return { ...result, blocks };
}

/** Throws UnprovenRead if the block that the caller knows is another one in the store. */
function checkTip(blocks: BlockRows, tip: KnownBlock | undefined): void {
  const held = tip && blocks.get(tip.number);
  if (tip !== undefined && held !== undefined && held.hash !== tip.hash)
    throw new UnprovenRead(
      `block ${tip.number} is ${held.hash} in the shared index, but ${tip.hash} in the local index`,
    );
}

/** Returns the cursor of the next page, and the missing blocks from the start of this page up to the cursor. */
async function endOf(
  { host, chain }: HistoryParts,
  {
    page: { window, blocks },
    order,
    last,
  }: { page: Page; order: Order; last: Omit<TracePosition, 'write'> | undefined },
): Promise<Pick<HistoryPage, 'next' | 'missing'>> {
  const { missing, missingUpTo } = window;
  const edge = missingUpTo === undefined ? undefined : edgeOf(missingUpTo, order);
  const next = last === undefined ? edge : { blockNumber: last.number, traceIndex: last.traceIndex };
  if (next === undefined) return { next, missing };
  const { blockNumber } = next;
  const block = blocks.get(blockNumber) ?? (await readNumbers(host, chain, [blockNumber])).get(blockNumber);
  return {
    next: { ...next, ...(block !== undefined && { blockHash: block.hash }) },
    missing: missing.map((gap) => upTo(gap, blockNumber, order)).filter((gap) => !isEmpty(gap)),
  };
}

/** Returns the last possible position in a block, in query order. */
export const edgeOf = (blockNumber: number, order: Order): HistoryPosition => ({
  blockNumber,
  traceIndex: order === 'asc' ? MAX_TRACES_PER_BLOCK - 1 : 0,
});
