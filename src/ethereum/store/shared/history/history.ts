import {
  AnswerTooLargeError,
  type BlockRange,
  BlockReplacedError,
  clipped,
  type DecodeFrame,
  edgeOf,
  type FramesPage,
  type FramesQuery,
  type Hash,
  type HistoryPage,
  type HistoryQuery,
  type HistorySummary,
  isEmptyRange,
  type JsonWriter,
  type Order,
  rangeUpTo,
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
import { type SearchResult, searchRows } from './addressRows.ts';
import { searchBlocks } from './blockRows.ts';
import { summarize } from './summary.ts';
import { pageRange, segmentsOf, type Window, windowOf } from './window.ts';

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

/** A query whose range is known, and a block that the chain of its result must contain. */
export interface Asked<Q> {
  readonly query: Q & BlockRange;
  readonly tip?: KnownBlock | undefined;
}

/** Appends a page of a history to `json`. */
export async function readPage(
  parts: HistoryParts,
  { query, tip }: Asked<HistoryQuery>,
  { maxBytes, json }: { readonly maxBytes: number; readonly json: JsonWriter },
): Promise<HistoryPage> {
  const page = await search(parts, { query, tip });
  const { found } = page;
  const chunks = await readChunks(parts.host, { chain: parts.chain, maxBytes: CHUNK_BYTES }, found);
  const taken = appendTraces(json, { places: found, chunks, maxBytes });
  if (taken === 0 && found.length > 0) throw new AnswerTooLargeError(maxBytes);
  const isFull = taken === query.limit || taken < found.length;
  const last = isFull ? found[taken - 1] : page.last;
  return { range: rangeOf(query), ...(await endOf(parts, { page, order: query.order, last })) };
}

export interface FramesAsked<T> extends Asked<FramesQuery> {
  readonly decode: DecodeFrame<T>;
}

export async function readFramesPage<T>(
  parts: HistoryParts,
  { query, tip, decode }: FramesAsked<T>,
): Promise<FramesPage<T>> {
  const { address, order, skip, limit } = query;
  const addresses = address === undefined ? ('all' as const) : [address];
  const page = await search(parts, { query: { ...query, addresses }, tip, needsBlocks: true });
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
  { query, tip }: Asked<SummaryQuery>,
): Promise<HistorySummary> {
  const range = rangeOf(query);
  const { summary } = await segments.prove(host, segmentsOf(range), (states) => {
    const window = { ...windowOf({ range, order: 'desc' }, range, states), searchRange: range };
    const ignored = [...states.values()].flatMap((state) => state.ignored);
    return summarize(host, chain, { address: query.address, window: { ...window, ignored } });
  });
  if (tip !== undefined) checkTip(await readNumbers(host, chain, [tip.number]), tip);
  return summary;
}

/** Searches the rows of the given addresses. If the query has none, reads the blocks one by one and searches them. */
async function search(
  { host, chain, segments }: HistoryParts,
  { query, tip, needsBlocks = false }: Asked<HistoryQuery> & { readonly needsBlocks?: boolean },
): Promise<Page> {
  const { order, cursor, addresses } = query;
  const asked = { range: rangeOf(query), order, cursor };
  const within = pageRange(asked);
  if (isEmptyRange(within)) {
    const window = windowOf(asked, within, new Map());
    return { window, found: [], last: undefined, prints: new Map(), blocks: new Map() };
  }
  const result = await segments.prove(host, segmentsOf(within), async (states) => {
    // The whole page range is proven, although the search may end before, where too many blocks are missing.
    const window = windowOf(asked, within, states);
    const found =
      addresses === 'all'
        ? await searchBlocks(host, chain, { query, window })
        : await searchRows(host, chain, { query: { ...query, addresses }, window });
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

const rangeOf = ({ fromBlock, toBlock }: BlockRange): BlockRange => ({ fromBlock, toBlock });

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
  const { range, missing, missingUpTo } = window;
  const edge = missingUpTo === undefined ? undefined : edgeOf(missingUpTo, order);
  const next = last === undefined ? edge : { blockNumber: last.number, traceIndex: last.traceIndex };
  if (next === undefined) return { next, missing };
  const { blockNumber } = next;
  const block = blocks.get(blockNumber) ?? (await readNumbers(host, chain, [blockNumber])).get(blockNumber);
  return {
    next: { ...next, ...(block !== undefined && { blockHash: block.hash }) },
    missing: clipped(missing, rangeUpTo(range, blockNumber, order)),
  };
}
