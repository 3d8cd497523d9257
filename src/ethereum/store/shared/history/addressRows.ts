import {
  type Direction,
  type HistoryFilter,
  type HistoryPosition,
  type HistoryQuery,
  type Order,
  TRACE_KINDS,
} from '../../../traces/index.ts';
import type { ClickHouse, Parameters } from '../connection/clickHouse.ts';
import { digitsOf } from '../reads/filterPart.ts';
import { FINGERPRINTS, type Fingerprints, readFingerprints, segmentParameters } from '../reads/segments.ts';
import type { TracePosition } from '../tables/position.ts';
import { CARRIES_VALUE, SIDE_BITS } from '../tables/rows.ts';
import type { Window } from './window.ts';

/** Bits of trace attributes, as defined in src/ethereum/traces/chunk/attributes.ts. */
const KIND = 'bitAnd(bitShiftRight(attributes, 8), 7)';
const IS_INTERNAL = 1 << 11;
const HAS_FAILED = 1 << 12;
const IS_REWARD = 1 << 13;

/** Maximum number of rows that are examined for one page of results. */
const MAX_LOOKS = 40_000;

/** The matching traces of one page of results, in query order. */
export interface SearchResult {
  readonly found: readonly FoundTrace[];
  /**
   * Position of the last row that was examined. The next page starts after it. Undefined if all rows were examined.
   */
  readonly last: Omit<TracePosition, 'write'> | undefined;
  readonly prints: Fingerprints;
}

export interface FoundTrace extends TracePosition {
  readonly attributes: number;
}

/** SQL condition: rows of the window that may be part of a result. */
export const inWindow = ({ ignored }: Window): string =>
  `chain = {chain:UInt64} AND number BETWEEN {first:UInt32} AND {last:UInt32}${
    ignored.length === 0 ? '' : ' AND write NOT IN {ignored:Array(UInt64)}'
  }`;

export const windowParameters = (chain: bigint, { searchRange, segments, ignored }: Window): Parameters => ({
  ...segmentParameters(chain, segments),
  ...{ first: searchRange.fromBlock, last: searchRange.toBlock },
  ...(ignored.length > 0 && { ignored }),
});

/**
 * Searches the rows of the given addresses, in query order, for traces that pass a filter. Examines at most MAX_LOOKS
 * rows.
 */
export function searchRows(
  host: ClickHouse,
  chain: bigint,
  {
    query,
    window,
  }: { readonly query: HistoryQuery & { readonly addresses: readonly string[] }; readonly window: Window },
): Promise<SearchResult> {
  const { addresses, order, filter, limit, cursor } = query;
  const by = order === 'asc' ? 'ASC' : 'DESC';
  const range = inWindow(window);
  const digits = digitsOf(addresses);
  // Each address has its own subquery, which reads the rows of the address in key order and stops at the limit.
  const rows = digits.map(
    (_, i) => `SELECT number, trace_index, write, attributes, value FROM trace_parties
      WHERE ${range} AND address = toFixedString(unhex({address${i}:String}), 20)
        AND bitAnd(sides, ${sidesOf(query.direction)}) != 0 ${cursorCondition(cursor, order)}
      ORDER BY number ${by}, trace_index ${by} LIMIT ${MAX_LOOKS}`,
  );
  const looked = `SELECT DISTINCT number, trace_index, write, attributes, value FROM (${rows.map((one) => `(${one})`).join(' UNION ALL ')})
    ORDER BY number ${by}, trace_index ${by} LIMIT ${MAX_LOOKS}`;
  const passing = `SELECT number, trace_index, write, attributes FROM (${looked}) WHERE ${filterCondition(filter)}
    ORDER BY number ${by}, trace_index ${by} LIMIT {limit:UInt32}`;
  const from = `FROM (SELECT groupArray((number, trace_index, write, attributes)) AS found FROM (${passing})) AS f
    CROSS JOIN (SELECT count() AS looks, toUInt64(${order === 'asc' ? 'max' : 'min'}(number * 4294967296 + trace_index)) AS last
      FROM (${looked})) AS l
    ${FINGERPRINTS.from}`;
  const parameters = {
    ...windowParameters(chain, window),
    ...Object.fromEntries(digits.map((address, i) => [`address${i}`, address])),
    ...{ limit, minValue: String(filter.minValue ?? 0n) },
    ...{ cursorNumber: cursor?.blockNumber ?? 0, cursorIndex: cursor?.traceIndex ?? 0 },
  };
  const columns = `found, looks, intDiv(last, 4294967296), last % 4294967296, ${FINGERPRINTS.columns}`;
  return host.row({ columns, from, parameters }, 0, (row) => {
    const found = row.array(() => ({
      ...{ number: row.uint32(), traceIndex: row.uint32() },
      ...{ write: row.bigUint64(), attributes: row.uint16() },
    }));
    const looks = row.uint64();
    const last = { number: row.uint64(), traceIndex: row.uint64() };
    const prints = readFingerprints(row);
    const step = order === 'asc' ? 1 : -1;
    found.sort((a, b) => step * (a.number - b.number || a.traceIndex - b.traceIndex));
    return { found, last: looks < MAX_LOOKS ? undefined : last, prints };
  });
}

const sidesOf = (direction: Direction): number =>
  direction === 'either' ? SIDE_BITS.from | SIDE_BITS.to : SIDE_BITS[direction];

function cursorCondition(cursor: HistoryPosition | undefined, order: Order): string {
  if (cursor === undefined) return '';
  const sign = order === 'asc' ? '>' : '<';
  return `AND (number ${sign} {cursorNumber:UInt32} OR (number = {cursorNumber:UInt32} AND trace_index ${sign} {cursorIndex:UInt32}))`;
}

function filterCondition({ kinds, minValue, internal, failed, callsCarryValue }: HistoryFilter): string {
  const tests = ['1'];
  if (kinds !== undefined)
    tests.push(`${KIND} IN (${[255, ...kinds.map((kind) => TRACE_KINDS.indexOf(kind))].join(', ')})`);
  if (internal === true) tests.push(`bitAnd(attributes, ${IS_INTERNAL}) != 0`);
  if (internal === false) tests.push(`bitAnd(attributes, ${IS_INTERNAL | IS_REWARD}) = 0`);
  if (failed !== undefined) tests.push(`bitAnd(attributes, ${HAS_FAILED}) ${failed ? '!=' : '='} 0`);
  if (callsCarryValue) tests.push(`(${KIND} != 0 OR bitAnd(attributes, ${CARRIES_VALUE}) != 0)`);
  if (minValue !== undefined) tests.push('value >= toUInt256({minValue:String})');
  return tests.join(' AND ');
}
