import {
  AnswerTooLargeError,
  actionValue,
  attributesOf,
  FilterMatcher,
  type HistoryQuery,
  TRACES_PER_CHUNK,
} from '../../../traces/index.ts';
import {
  grouped,
  type Reading,
  readGrouped,
  throwUnproven,
  VALID_IN_RANGE,
  wrongLinks,
} from '../reads/blocks.ts';
import type { Chunks } from '../reads/chunks.ts';
import { readBlockChunks } from '../reads/readChunks.ts';
import { rowWithPrints } from '../reads/segments.ts';
import type { BlockRow } from '../tables/blockRow.ts';
import type { FoundTrace, SearchResult, Window } from './window.ts';

/**
 * Maximum number of blocks that are searched for one page of results if the query has no address, because each block
 * is then read completely.
 */
const MAX_BLOCKS = 64;
/** Number of blocks whose chunks one statement reads. */
const BLOCKS_PER_READ = 8;
const CHUNK_BYTES = 256 * 1024 * 1024;

/** Searches all traces of the blocks of a window, in query order, for traces that pass a filter. */
export async function searchBlocks(
  reading: Reading,
  query: HistoryQuery,
  window: Window,
): Promise<SearchResult> {
  const { filter, order, limit, cursor } = query;
  const found: FoundTrace[] = [];
  const matcher = new FilterMatcher(filter);
  const step = order === 'asc' ? 1 : -1;
  const { blocks, prints } = await tracedBlocks(reading, window);
  const looked = blocks.slice(0, MAX_BLOCKS);
  for await (const [block, chunks] of readEach(reading, looked)) {
    const ahead = passingIn(chunks, block, matcher).filter(
      ({ traceIndex }) => cursor?.blockNumber !== block.number || step * (traceIndex - cursor.traceIndex) > 0,
    );
    found.push(...(order === 'asc' ? ahead : ahead.reverse()));
    if (found.length >= limit) break;
  }
  const end = blocks.length > MAX_BLOCKS ? looked.at(-1) : undefined;
  const last = end && { number: end.number, traceIndex: order === 'asc' ? end.traceCount - 1 : 0 };
  return { found: found.slice(0, limit), last, prints };
}

/** Yields blocks with their chunks, which are read for several blocks at once if they are small enough. */
async function* readEach(
  reading: Reading,
  blocks: readonly BlockRow[],
  blocksPerRead = BLOCKS_PER_READ,
): AsyncGenerator<readonly [BlockRow, Chunks]> {
  for (let i = 0; i < blocks.length; i += blocksPerRead) {
    const some = blocks.slice(i, i + blocksPerRead);
    const chunks = await readBlockChunks(reading, some, { maxBytes: CHUNK_BYTES }).catch((error: unknown) => {
      if (!(error instanceof AnswerTooLargeError) || some.length === 1) throw error;
    });
    if (chunks === undefined) yield* readEach(reading, some, 1);
    else for (const block of some) yield [block, chunks];
  }
}

/** Returns the first blocks of a window that have traces, in query order, one more than are searched. */
function tracedBlocks(reading: Reading, window: Window) {
  const { order, searchRange, proven: range } = window;
  const { fromBlock: first, toBlock: last } = searchRange;
  const traced = `SELECT * FROM (${VALID_IN_RANGE}) WHERE traces + parties > 0 ORDER BY number ${order} LIMIT ${MAX_BLOCKS + 1}`;
  const statement = {
    range,
    columns: 'blocks',
    from: `FROM (${grouped(traced)}) AS b`,
    parameters: { first, last },
  };
  return rowWithPrints(reading, statement, (row) => {
    const blocks = [...readGrouped(row, reading.fetched).values()].filter(
      ({ number, traceCount }) => number >= first && number <= last && traceCount > 0,
    );
    throwUnproven(wrongLinks(blocks));
    if (order === 'desc') blocks.reverse();
    return { blocks: blocks.slice(0, MAX_BLOCKS + 1) };
  });
}

/** Returns the traces of a block that pass a filter. */
function passingIn(
  chunks: Chunks,
  { number, write, traceCount }: BlockRow,
  matcher: FilterMatcher,
): FoundTrace[] {
  const count = Math.ceil(traceCount / TRACES_PER_CHUNK);
  const all = Array.from({ length: count }, (_, chunk) => chunks.get(number, chunk));
  const passes = ({ attributes, traceIndex }: FoundTrace): boolean =>
    matcher.byAttributes(attributes) ??
    matcher.byValue(actionValue(chunks.containing({ number, traceIndex }), traceIndex % TRACES_PER_CHUNK));
  return Array.from(attributesOf(all, traceCount), (attributes, traceIndex) => ({
    number,
    traceIndex,
    write,
    attributes,
  })).filter(passes);
}
