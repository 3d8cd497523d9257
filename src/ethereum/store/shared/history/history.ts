import {
  AnswerTooLargeError,
  type BlockRange,
  BlockReplacedError,
  clipped,
  type DecodeFrame,
  edgeOf,
  type FramesPage,
  type FramesQuery,
  type HistoryPage,
  type HistoryQuery,
  type HistorySummary,
  isEmptyRange,
  type JsonWriter,
  rangeUpTo,
  type SummaryQuery,
} from '../../../traces/index.ts';
import { UnprovenRead } from '../connection/failures.ts';
import { type BlockRows, checkTip, type KnownBlock, readNumbers } from '../reads/blocks.ts';
import { readChunks } from '../reads/readChunks.ts';
import type { ProvenReading } from '../reads/segments.ts';
import { appendTraces } from '../reads/writeTraces.ts';
import type { TracePlace } from '../tables/position.ts';
import { searchRows } from './addressRows.ts';
import { searchBlocks } from './blockRows.ts';
import { summarize } from './summary.ts';
import { pageRange, type SearchResult, type Window, windowOf } from './window.ts';

const CHUNK_BYTES = 64 * 1024 * 1024;

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
  reading: ProvenReading,
  { query, tip }: Asked<HistoryQuery>,
  { maxBytes, json }: { readonly maxBytes: number; readonly json: JsonWriter },
): Promise<HistoryPage> {
  const page = await search(reading, { query, tip });
  const { found } = page;
  const chunks = await readChunks(reading, found, CHUNK_BYTES);
  const taken = appendTraces(json, { places: found, chunks, maxBytes });
  if (taken === 0 && found.length > 0) throw new AnswerTooLargeError(maxBytes);
  const isFull = taken === query.limit || taken < found.length;
  const last = isFull ? found[taken - 1] : page.last;
  return { range: page.window.range, ...(await endOf(reading, page, last)) };
}

export interface FramesAsked<T> extends Asked<FramesQuery> {
  readonly decode: DecodeFrame<T>;
}

export async function readFramesPage<T>(
  reading: ProvenReading,
  { query, tip, decode }: FramesAsked<T>,
): Promise<FramesPage<T>> {
  const { address, skip, limit } = query;
  const addresses = address === undefined ? ('all' as const) : [address];
  const page = await search(reading, { query: { ...query, addresses }, tip, needsBlocks: true });
  const { found, blocks } = page;
  const given = found.slice(skip);
  const chunks = await readChunks(reading, given, CHUNK_BYTES);
  const frames = given.map((place) => {
    const block = blocks.get(place.number);
    if (block?.write !== place.write) throw new UnprovenRead(`ClickHouse: block ${place.number} changed`);
    return decode({
      chunk: chunks.containing(place),
      traceIndex: place.traceIndex,
      blockNumber: place.number,
      blockHash: block.hash,
      timestamp: block.timestamp,
      attributes: () => place.attributes,
    });
  });
  const last = found.length === limit ? found.at(-1) : page.last;
  return { frames, found: found.length, ...(await endOf(reading, page, last)) };
}

export async function readSummary(
  reading: ProvenReading,
  { query, tip }: Asked<SummaryQuery>,
): Promise<HistorySummary> {
  const range = rangeOf(query);
  const { summary } = await reading.segments.prove(reading, range, async (states) => {
    const window = { ...windowOf({ range, order: 'desc' }, range, states), searchRange: range };
    return { ...(await summarize(reading, query.address, window)), searched: range };
  });
  if (tip !== undefined) checkTip(await readNumbers(reading, [tip.number]), tip);
  return summary;
}

/** Searches the rows of the given addresses. If the query has none, reads the blocks one by one and searches them. */
async function search(
  reading: ProvenReading,
  { query, tip, needsBlocks = false }: Asked<HistoryQuery> & { readonly needsBlocks?: boolean },
): Promise<Page> {
  const { order, cursor, addresses } = query;
  const walk = { range: rangeOf(query), order, cursor };
  const within = pageRange(walk);
  if (isEmptyRange(within)) {
    const window = windowOf(walk, within, new Map());
    return { window, found: [], last: undefined, prints: new Map(), blocks: new Map() };
  }
  const result = await reading.segments.prove(reading, within, async (states) => {
    // The whole page range is proven, although the search may end before, where too many blocks are missing.
    const window = windowOf(walk, within, states);
    const found =
      addresses === 'all'
        ? await searchBlocks(reading, query, window)
        : await searchRows(reading, { ...query, addresses }, window);
    const last = found.found.length === query.limit ? found.found.at(-1) : found.last;
    const searched =
      last === undefined ? window.searchRange : rangeUpTo(window.searchRange, last.number, order);
    return { ...found, window, searched };
  });
  const numbers = [
    ...(needsBlocks ? result.found.map(({ number }) => number) : []),
    ...[cursor?.blockNumber, tip?.number].filter((number) => number !== undefined),
  ];
  const blocks = await readNumbers(reading, numbers);
  if (cursor?.blockHash !== undefined && blocks.get(cursor.blockNumber)?.hash !== cursor.blockHash)
    // Final blocks are not replaced, so the row is damaged, unless the fetched block has another hash, too.
    throw reading.fetched.mayAdd([cursor.blockNumber])
      ? new UnprovenRead(`block ${cursor.blockNumber} is not that of the cursor`, [cursor.blockNumber])
      : new BlockReplacedError(cursor.blockNumber);
  checkTip(blocks, tip);
  return { ...result, blocks };
}

const rangeOf = ({ fromBlock, toBlock }: BlockRange): BlockRange => ({ fromBlock, toBlock });

/** Returns the cursor of the next page, and the missing blocks from the start of this page up to the cursor. */
async function endOf(
  reading: ProvenReading,
  { window, blocks }: Page,
  last: TracePlace | undefined,
): Promise<Pick<HistoryPage, 'next' | 'missing'>> {
  const { range, order, missing, missingUpTo } = window;
  const edge = missingUpTo === undefined ? undefined : edgeOf(missingUpTo, order);
  const next = last === undefined ? edge : { blockNumber: last.number, traceIndex: last.traceIndex };
  if (next === undefined) return { next, missing };
  const { blockNumber } = next;
  const block = blocks.get(blockNumber) ?? (await readNumbers(reading, [blockNumber])).get(blockNumber);
  return {
    next: { ...next, ...(block !== undefined && { blockHash: block.hash }) },
    missing: clipped(missing, rangeUpTo(range, blockNumber, order)),
  };
}
