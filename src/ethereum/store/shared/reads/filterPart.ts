import { assertNotTooMany, type JsonWriter, searchLimit, type TraceFilter } from '../../../traces/index.ts';
import { UnprovenRead } from '../connection/failures.ts';
import { readPlaces, type TracePosition } from '../tables/position.ts';
import { SIDE_BITS } from '../tables/rows.ts';
import {
  type BlockRows,
  checkTip,
  grouped,
  isWhole,
  type KnownBlock,
  type Reading,
  ROWS_BY_WRITE,
  readGrouped,
  readRange,
  readWriteRows,
  throwUnproven,
  VALID_IN_RANGE,
  withNeighbours,
  wrongRows,
} from './blocks.ts';
import { partiesWhere } from './fetchedBlocks.ts';
import { readChunks } from './readChunks.ts';
import { tracesAsJson } from './writeTraces.ts';

/** Maximum number of times that a search is repeated because it found rows of other writes. */
const MAX_SEARCHES = 4;

/** Matches of a filter in the shared part of its range. */
export interface FilterPart {
  /** The traces as bytes of a JSON array. */
  readonly bytes: Uint8Array;
  readonly found: number;
  /** Number of matches in the range, including skipped ones; a lower bound if `found` reached the limit. */
  readonly matches: number;
}

interface Found {
  readonly blocks: BlockRows;
  readonly places: readonly TracePosition[];
  readonly matches: number;
}

export interface FilterReading {
  readonly maxBytes: number;
  readonly json?: JsonWriter | undefined;
  /** The last block of the range, if the caller knows its hash. */
  readonly tip?: KnownBlock | undefined;
}

/** Returns the matches of a filter, or undefined if a block of its range is missing. */
export async function filterPart(
  reading: Reading,
  filter: TraceFilter,
  { maxBytes, json, tip }: FilterReading,
): Promise<FilterPart | undefined> {
  const isUnrestricted = filter.fromAddresses.length + filter.toAddresses.length === 0;
  const { blocks, places, matches } = await (isUnrestricted
    ? findByCount(reading, filter)
    : findByAddress(reading, filter));
  const last = blocks.get(filter.toBlock);
  if (last === undefined || !isWhole(blocks, filter)) return undefined;
  checkTip(blocks, tip);
  if (filter.blockHash !== undefined && last.hash !== filter.blockHash) return undefined;
  assertNotTooMany(filter, places.length);
  for (const { number, write } of places)
    if (blocks.get(number)?.write !== write) throw new UnprovenRead(`ClickHouse: block ${number} changed`);
  const chunks = await readChunks(reading, places, maxBytes);
  const bytes = tracesAsJson({ places, chunks, maxBytes }, json);
  return { bytes, found: places.length, matches };
}

/** Finds the traces that a filter without addresses selects, from the trace counts of the blocks. */
async function findByCount(reading: Reading, filter: TraceFilter): Promise<Found> {
  const count = searchLimit(filter);
  const blocks = await readRange(reading, filter);
  const places: TracePosition[] = [];
  let matches = 0;
  for (let number = filter.fromBlock; number <= filter.toBlock; number++) {
    const { traceCount = 0, write = 0n } = blocks.get(number) ?? {};
    const first = Math.max(0, filter.after - matches);
    const end = Math.min(traceCount, first + count - places.length);
    for (let traceIndex = first; traceIndex < end; traceIndex++) places.push({ number, traceIndex, write });
    matches += traceCount;
  }
  return { blocks, places, matches };
}

/**
 * Finds the traces with the addresses of a filter, and counts all rows of its blocks. Few blocks have rows of other
 * writes than the valid one, so the search excludes these only when they were found.
 */
async function findByAddress(reading: Reading, filter: TraceFilter): Promise<Found> {
  let ignored: readonly bigint[] = [];
  for (let searches = 0; searches < MAX_SEARCHES; searches++) {
    const { others, ...found } = await searchByAddress(reading, filter, ignored);
    // An ignored write that is not among the others now is the valid one of its block: the block became visible.
    if (others.length === ignored.length && others.every((write) => ignored.includes(write))) return found;
    ignored = others;
  }
  throw new UnprovenRead('the shared index: rows were added during the read');
}

async function searchByAddress(
  { host, chain, fetched }: Reading,
  filter: TraceFilter,
  ignored: readonly bigint[],
): Promise<Found & { readonly others: readonly bigint[] }> {
  const { fromBlock, toBlock, after } = filter;
  const isCounted = after > 0 || filter.count === 0;
  const digits = { senders: digitsOf(filter.fromAddresses), recipients: digitsOf(filter.toAddresses) };
  const condition = `number BETWEEN {from:UInt32} AND {to:UInt32}
    ${ignored.length === 0 ? '' : 'AND write NOT IN {ignored:Array(UInt64)}'} AND ${conditionOf(filter)}`;
  const matching = `SELECT number, trace_index, write FROM
    ${partiesWhere(condition, fetched, [...digits.senders, ...digits.recipients])} ${groupsOf(filter)}`;
  const from = `FROM (${grouped(VALID_IN_RANGE)}) AS b
    CROSS JOIN (SELECT groupArray((number, trace_index, write)) AS places FROM (
      ${matching} ORDER BY number, trace_index LIMIT {count:UInt32} OFFSET {after:UInt64})) AS found
    CROSS JOIN (${ROWS_BY_WRITE}) AS p${isCounted ? ` CROSS JOIN (SELECT count() AS matches FROM (${matching})) AS c` : ''}`;
  const parameters = {
    chain: String(chain),
    ...withNeighbours(filter),
    from: fromBlock,
    to: toBlock,
    ...digits,
    after,
    count: searchLimit(filter),
    ignored,
  };
  const columns = `blocks, places, ${isCounted ? 'matches' : 'toUInt64(0)'}, rows`;
  return host.row({ columns, from, parameters }, (row) => {
    const blocks = readGrouped(row, fetched);
    const places = readPlaces(row);
    const matches = Math.max(row.uint64(), places.length);
    const rows = readWriteRows(row).filter(({ number }) => !fetched.has(number));
    const counted = [...blocks.values()].filter(
      ({ number }) => number >= fromBlock && number <= toBlock && !fetched.has(number),
    );
    throwUnproven(wrongRows(counted, rows));
    const others = rows.filter(({ number, write }) => blocks.get(number)?.write !== write);
    return { blocks, places, matches, others: others.map(({ write }) => write) };
  });
}

export const digitsOf = (addresses: readonly string[]): string[] =>
  [...new Set(addresses)].map((address) => address.slice(2));

/**
 * SQL condition: the address of a row is in a list. Several addresses need a subquery, because an arrayMap would be
 * compared with every row.
 */
const isOneOf = (parameter: string, { length }: readonly string[]): string =>
  length === 1
    ? `address = toFixedString(unhex({${parameter}:Array(String)}[1]), 20)`
    : `address IN (SELECT toFixedString(unhex(arrayJoin({${parameter}:Array(String)})), 20))`;

/** SQL: the rows that a filter selects. */
function conditionOf({ fromAddresses, toAddresses }: TraceFilter): string {
  if (toAddresses.length === 0) return sentBy(fromAddresses);
  if (fromAddresses.length === 0) return receivedBy(toAddresses);
  return `((${sentBy(fromAddresses)}) OR (${receivedBy(toAddresses)}))`;
}

/**
 * SQL: groups rows by trace if a filter has senders and recipients. Otherwise at most one row per trace matches.
 */
function groupsOf({ fromAddresses, toAddresses, mode }: TraceFilter): string {
  if (fromAddresses.length === 0 || toAddresses.length === 0) return '';
  const both = `HAVING max(${sentBy(fromAddresses)}) AND max(${receivedBy(toAddresses)})`;
  return `GROUP BY number, trace_index, write ${mode === 'union' ? '' : both}`;
}

const sentBy = (addresses: readonly string[]): string =>
  `${isOneOf('senders', addresses)} AND bitAnd(sides, ${SIDE_BITS.from}) != 0`;
const receivedBy = (addresses: readonly string[]): string =>
  `${isOneOf('recipients', addresses)} AND bitAnd(sides, ${SIDE_BITS.to}) != 0`;
