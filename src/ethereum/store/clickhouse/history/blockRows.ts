import {
  actionValue,
  attributesOf,
  FilterMatcher,
  type HistoryFilter,
  type HistoryPosition,
  type Order,
  TRACES_PER_CHUNK,
} from '../../../traces/index.ts';
import type { ChainReader } from '../reads/chainReader.ts';
import type { ChunkReader } from '../reads/chunks.ts';
import type { WideState } from '../reads/wideReader.ts';
import type { ChunkedBlock } from '../tables/tracePosition.ts';
import type { FoundTrace, SearchResult } from './addressRows.ts';

/**
 * Maximum number of blocks that are searched for one page of results if the query has no address, because each block
 * is then read completely.
 */
const MAX_BLOCKS = 64;
const CHUNK_BYTES = 256 * 1024 * 1024;

interface Parts {
  readonly reader: ChainReader;
  readonly chunks: ChunkReader;
}

export interface BlocksQuery {
  readonly filter: HistoryFilter;
  readonly order: Order;
  readonly limit: number;
  readonly cursor: HistoryPosition | undefined;
}

/** Searches all traces of the blocks in `searchRange`, in query order, for traces that pass a filter. */
export async function searchBlocks(
  { reader, chunks }: Parts,
  { filter, order, limit, cursor }: BlocksQuery,
  { searchRange }: WideState,
): Promise<SearchResult> {
  const found: FoundTrace[] = [];
  const matcher = new FilterMatcher(filter);
  const step = order === 'asc' ? 1 : -1;
  const blocks = await reader.tracedBlocks(searchRange, order, MAX_BLOCKS + 1);
  const looked = blocks.slice(0, MAX_BLOCKS);
  for (const block of looked) {
    if (found.length >= limit) break;
    const ahead = (await passingIn(chunks, block, matcher)).filter(
      ({ traceIndex }) => cursor?.blockNumber !== block.number || step * (traceIndex - cursor.traceIndex) > 0,
    );
    found.push(...(order === 'asc' ? ahead : ahead.reverse()));
  }
  const last = looked.at(-1);
  const isFinished = blocks.length <= MAX_BLOCKS || last === undefined;
  return {
    found: found.slice(0, limit),
    last: isFinished ? undefined : { number: last.number, traceIndex: order === 'asc' ? last.traces - 1 : 0 },
  };
}

async function passingIn(
  chunks: ChunkReader,
  block: ChunkedBlock,
  matcher: FilterMatcher,
): Promise<FoundTrace[]> {
  const read = await chunks.ofBlock(block, 0, CHUNK_BYTES);
  const { number, traces } = block;
  const all = Array.from({ length: Math.ceil(traces / TRACES_PER_CHUNK) }, (_, chunk) =>
    read.containing({ number, traceIndex: chunk * TRACES_PER_CHUNK }),
  );
  const places: FoundTrace[] = [];
  attributesOf(all, traces).forEach((attributes, traceIndex) => {
    const verdict = matcher.byAttributes(attributes);
    const valueHere = (): bigint =>
      actionValue(read.containing({ number, traceIndex }), traceIndex % TRACES_PER_CHUNK);
    if (verdict ?? matcher.byValue(valueHere())) places.push({ number, traceIndex, attributes });
  });
  return places;
}
