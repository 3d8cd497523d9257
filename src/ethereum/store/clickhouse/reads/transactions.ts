import { type Hash, TRACES_PER_CHUNK, termOf, transactionPositionOf } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { IncompleteReplica } from '../connection/failures.ts';
import { COUNTED_BY_SEGMENT, checkCounts, readCounts } from '../tables/rowCounts.ts';
import { SIDE_BITS } from '../tables/rows.ts';
import type { Tables } from '../tables/tables.ts';
import type { ChunkedBlock } from '../tables/tracePosition.ts';
import type { ChainReader } from './chainReader.ts';
import type { ChunkReader } from './chunks.ts';
import { attemptOf, validRowsCondition } from './rangeBlocks.ts';

/**
 * Maximum number of transactions with the same hash prefix that are examined. More than one needs a deliberate
 * collision.
 */
const MAX_CANDIDATES = 100;
const CHUNK_BYTES = 64 * 1024 * 1024;

export interface RootFrame {
  readonly block: ChunkedBlock;
  readonly traceIndex: number;
  readonly transactionPosition: number;
}

interface Parts {
  readonly clickHouse: ClickHouse;
  readonly tables: Tables;
  readonly reader: ChainReader;
  readonly chunks: ChunkReader;
}

/**
 * Finds the root frame of a transaction in blocks up to `upTo`. Row counts prove that the replica has the rows of all
 * these blocks.
 */
export async function findTransaction(
  { clickHouse, tables, reader, chunks }: Parts,
  hash: Hash,
  upTo?: number,
): Promise<RootFrame | undefined> {
  const head = (await reader.lastBlock(upTo ?? Number.MAX_SAFE_INTEGER))?.number;
  if (head === undefined) return undefined;
  const state = await reader.wide({
    ...{ fromBlock: undefined, toBlock: head, order: 'desc', cursor: undefined },
    ...{ maxMissing: undefined, maxBlocks: head + 1 },
  });
  const { fromBlock, toBlock } = state.searchRange;
  const range = validRowsCondition(state.attempts);
  const from = `FROM (SELECT groupArray((number, trace_index)) AS places FROM (
      SELECT number, trace_index FROM ${tables.byAddress}
      WHERE ${range} AND address = toFixedString(unhex({term:String}), 20) AND bitAnd(sides, ${SIDE_BITS.transaction}) != 0
      ORDER BY number DESC LIMIT ${MAX_CANDIDATES})) AS found
    CROSS JOIN (${COUNTED_BY_SEGMENT(tables.byAddress, range)}) AS counted`;
  const parameters = {
    ...{ chain: reader.id, first: fromBlock, last: toBlock, term: termOf(hash).slice(2) },
    ...state.attempts,
  };
  const places = await clickHouse.row({ columns: 'places, counts', from, parameters }, 0, (row) => {
    const found = row.array(() => ({ number: row.uint32(), traceIndex: row.uint32() }));
    checkCounts(readCounts(row), state.postings);
    return found;
  });
  const hashBytes = Buffer.from(hash.slice(2), 'hex');
  for (const place of places) {
    const block = (await reader.range(place.number, place.number))?.span.block(place.number);
    if (block?.attempt !== attemptOf(state.attempts, place.number))
      throw new IncompleteReplica('the chain changed during the read');
    const read = await chunks.at([place], () => block, CHUNK_BYTES);
    const { traceIndex } = place;
    const transactionPosition = transactionPositionOf(
      read.containing(place),
      traceIndex % TRACES_PER_CHUNK,
      hashBytes,
    );
    if (transactionPosition !== undefined) return { block, traceIndex, transactionPosition };
  }
  return undefined;
}
