import {
  type Hash,
  TRACES_PER_CHUNK,
  type TransactionLimits,
  termOf,
  transactionPositionOf,
} from '../../../traces/index.ts';
import { type BlockRow, isTraced } from '../tables/blockRow.ts';
import { readPlaces, type TracePosition } from '../tables/position.ts';
import { SIDE_BITS } from '../tables/rows.ts';
import { MAX_UINT32 } from '../tables/tables.ts';
import { type Reading, readNumbers } from './blocks.ts';
import { partiesWhere } from './fetchedBlocks.ts';
import { readChunks } from './readChunks.ts';
import { type ProvenReading, rowWithPrints } from './segments.ts';

/**
 * Maximum number of transactions with the same hash prefix that are examined. More than one needs a deliberate
 * collision, or interrupted writes of its block.
 */
const MAX_CANDIDATES = 100;
const CHUNK_BYTES = 64 * 1024 * 1024;

export interface RootFrame {
  readonly block: BlockRow;
  readonly traceIndex: number;
  readonly transactionPosition: number;
}

/**
 * Finds the root frame of a transaction in a range of blocks. If there is none, proves that the host has all rows of
 * these blocks.
 */
export async function findTransaction(
  reading: ProvenReading,
  hash: Hash,
  { fromBlock = 0, upTo = MAX_UINT32 }: Pick<TransactionLimits, 'fromBlock' | 'upTo'>,
): Promise<RootFrame | undefined> {
  const { host, chain, segments, fetched } = reading;
  // The local index has all blocks of the range, for example all blocks of a young chain.
  if (upTo < fromBlock) return undefined;
  const range = { fromBlock, toBlock: Math.min(upTo, MAX_UINT32) };
  const term = termOf(hash).slice(2);
  const condition = `address = toFixedString(unhex({term:String}), 20) AND number BETWEEN {first:UInt32} AND {last:UInt32}
    AND bitAnd(sides, ${SIDE_BITS.transaction}) != 0`;
  const from = `FROM (SELECT groupArray((number, trace_index, write)) AS places FROM (
    SELECT number, trace_index, write FROM ${partiesWhere(condition, fetched, [term])}
    ORDER BY number DESC LIMIT ${MAX_CANDIDATES})) AS c`;
  const parameters = { chain: String(chain), first: range.fromBlock, last: range.toBlock, term };
  const statement = { range, columns: 'places', from, parameters };
  const found = await examine(reading, hash, await host.row(statement, readPlaces));
  if (found !== undefined) return found;
  const { places } = await segments.prove(reading, range, () =>
    rowWithPrints(reading, statement, (row) => ({ places: readPlaces(row), searched: range })),
  );
  return examine(reading, hash, places);
}

/** Returns the first candidate that is a root frame of the transaction in a valid block. */
async function examine(
  reading: Reading,
  hash: Hash,
  places: readonly TracePosition[],
): Promise<RootFrame | undefined> {
  const numbers = places.map(({ number }) => number);
  const blocks = await readNumbers(reading, numbers);
  const hashBytes = Buffer.from(hash.slice(2), 'hex');
  for (const place of places) {
    const block = blocks.get(place.number);
    if (block === undefined || !isTraced(block) || block.write !== place.write) continue;
    const { traceIndex } = place;
    const chunk = (await readChunks(reading, [place], CHUNK_BYTES)).containing(place);
    const transactionPosition = transactionPositionOf(chunk, traceIndex % TRACES_PER_CHUNK, hashBytes);
    if (transactionPosition !== undefined) return { block, traceIndex, transactionPosition };
  }
  return undefined;
}
