import {
  type Hash,
  segmentOf,
  TRACES_PER_CHUNK,
  termOf,
  transactionPositionOf,
} from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { type BlockRow, isTraced } from '../tables/blockRow.ts';
import { readPlaces, type TracePosition } from '../tables/position.ts';
import { SIDE_BITS } from '../tables/rows.ts';
import { readNumbers } from './blocks.ts';
import { readChunks } from './chunks.ts';
import { FINGERPRINTS, readFingerprints, type Segments, segmentParameters } from './segments.ts';

/**
 * Maximum number of transactions with the same hash prefix that are examined. More than one needs a deliberate
 * collision, or interrupted writes of its block.
 */
const MAX_CANDIDATES = 100;
const CHUNK_BYTES = 64 * 1024 * 1024;
const MAX_BLOCK = 2 ** 32 - 1;

export interface RootFrame {
  readonly block: BlockRow;
  readonly traceIndex: number;
  readonly transactionPosition: number;
}

interface Searching {
  readonly host: ClickHouse;
  readonly chain: bigint;
  readonly segments: Segments;
}

/**
 * Finds the root frame of a transaction in blocks up to `upTo`. If there is none, proves that the host has all rows
 * of these blocks.
 */
export async function findTransaction(
  { host, chain, segments }: Searching,
  hash: Hash,
  upTo = MAX_BLOCK,
): Promise<RootFrame | undefined> {
  const last = Math.min(upTo, MAX_BLOCK);
  const range = { first: 0, last: segmentOf(last) };
  const parameters = { ...segmentParameters(chain, range), term: termOf(hash).slice(2), upTo: last };
  const from = `FROM (${CANDIDATES}) AS c`;
  const places = await host.row({ columns: 'places', from, parameters }, 0, readPlaces);
  const found = await examine({ host, chain, hash }, places);
  if (found !== undefined) return found;
  const columns = `places, ${FINGERPRINTS.columns}`;
  const statement = { columns, from: `${from} ${FINGERPRINTS.from}`, parameters };
  const proven = await segments.prove(host, range, () =>
    host.row(statement, 0, (row) => ({ places: readPlaces(row), prints: readFingerprints(row) })),
  );
  return examine({ host, chain, hash }, proven.places);
}

const CANDIDATES = `SELECT groupArray((number, trace_index, write)) AS places FROM (
  SELECT number, trace_index, write FROM trace_parties
  WHERE chain = {chain:UInt64} AND address = toFixedString(unhex({term:String}), 20) AND number <= {upTo:UInt32}
    AND bitAnd(sides, ${SIDE_BITS.transaction}) != 0 ORDER BY number DESC LIMIT ${MAX_CANDIDATES})`;

/** Returns the first candidate that is a root frame of the transaction in a valid block. */
async function examine(
  { host, chain, hash }: Omit<Searching, 'segments'> & { readonly hash: Hash },
  places: readonly TracePosition[],
): Promise<RootFrame | undefined> {
  const blocks = await readNumbers(
    host,
    chain,
    places.map(({ number }) => number),
  );
  const hashBytes = Buffer.from(hash.slice(2), 'hex');
  for (const place of places) {
    const block = blocks.get(place.number);
    if (block === undefined || !isTraced(block) || block.write !== place.write) continue;
    const chunks = await readChunks(host, { chain, maxBytes: CHUNK_BYTES }, [place]);
    const { traceIndex } = place;
    const chunk = chunks.containing(place);
    const transactionPosition = transactionPositionOf(chunk, traceIndex % TRACES_PER_CHUNK, hashBytes);
    if (transactionPosition !== undefined) return { block, traceIndex, transactionPosition };
  }
  return undefined;
}
