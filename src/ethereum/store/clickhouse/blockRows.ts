import {
  actionValue,
  attributesOf,
  FilterTest,
  type HistoryFilter,
  type HistoryPlace,
  type Order,
  TRACES_PER_CHUNK,
} from '../../traces/index.ts';
import type { FoundPlace, Looked } from './addressRows.ts';
import type { ChainReader } from './chainReader.ts';
import type { ChunkReader } from './chunks.ts';
import type { ChunkedBlock } from './place.ts';
import type { WideState } from './wideReader.ts';

/** Blocks that one page goes over where no address is named: each is read whole. */
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
  readonly behind: HistoryPlace | undefined;
}

/** Looks at all traces of some blocks, in order, for those that pass a filter. */
export async function lookAtBlocks(
  { reader, chunks }: Parts,
  { filter, order, limit, behind }: BlocksQuery,
  { within }: WideState,
): Promise<Looked> {
  const found: FoundPlace[] = [];
  const test = new FilterTest(filter);
  const step = order === 'asc' ? 1 : -1;
  const blocks = await reader.tracedBlocks(within, order, MAX_BLOCKS + 1);
  const looked = blocks.slice(0, MAX_BLOCKS);
  for (const block of looked) {
    if (found.length >= limit) break;
    const ahead = (await passingIn(chunks, block, test)).filter(
      ({ traceIndex }) => behind?.blockNumber !== block.number || step * (traceIndex - behind.traceIndex) > 0,
    );
    found.push(...(order === 'asc' ? ahead : ahead.reverse()));
  }
  const last = looked.at(-1);
  const isOver = blocks.length <= MAX_BLOCKS || last === undefined;
  return {
    found: found.slice(0, limit),
    last: isOver ? undefined : { number: last.number, traceIndex: order === 'asc' ? last.traces - 1 : 0 },
  };
}

async function passingIn(chunks: ChunkReader, block: ChunkedBlock, test: FilterTest): Promise<FoundPlace[]> {
  const read = await chunks.ofBlock(block, 0, CHUNK_BYTES);
  const { number, traces } = block;
  const all = Array.from({ length: Math.ceil(traces / TRACES_PER_CHUNK) }, (_, chunk) =>
    read.with({ number, traceIndex: chunk * TRACES_PER_CHUNK }),
  );
  const places: FoundPlace[] = [];
  attributesOf(all, traces).forEach((attributes, traceIndex) => {
    const verdict = test.byAttributes(attributes);
    const valueHere = (): bigint =>
      actionValue(read.with({ number, traceIndex }), traceIndex % TRACES_PER_CHUNK);
    if (verdict ?? test.byValue(valueHere())) places.push({ number, traceIndex, attributes });
  });
  return places;
}
