import {
  type Direction,
  type HistoryFilter,
  type HistoryPosition,
  type HistoryQuery,
  type Order,
  TRACE_KINDS,
} from '../../../traces/index.ts';
import type { Reading } from '../reads/blocks.ts';
import { partiesWhere } from '../reads/fetchedBlocks.ts';
import { digitsOf } from '../reads/filterPart.ts';
import { rowWithPrints } from '../reads/segments.ts';
import { CARRIES_VALUE, SIDE_BITS } from '../tables/rows.ts';
import { inWindow, type SearchResult, type Window, windowParameters } from './window.ts';

/** Bits of trace attributes, as defined in src/ethereum/traces/chunk/attributes.ts. */
export const KIND = 'bitAnd(bitShiftRight(attributes, 8), 7)';
const IS_INTERNAL = 1 << 11;
const HAS_FAILED = 1 << 12;
const IS_REWARD = 1 << 13;

/** Maximum number of rows that are examined for one page of results. */
const MAX_LOOKS = 40_000;

/**
 * Searches the rows of the given addresses, in query order, for traces that pass a filter. Examines at most MAX_LOOKS
 * rows.
 */
export function searchRows(
  reading: Reading,
  query: HistoryQuery & { readonly addresses: readonly string[] },
  window: Window,
): Promise<SearchResult> {
  const { addresses, order, filter, limit, cursor } = query;
  const digits = digitsOf(addresses);
  // Each address has its own subquery, which reads the rows of the address in key order and stops at the limit.
  const rows = digits.map((address, i) => {
    const condition = `${inWindow(window)} AND address = toFixedString(unhex({address${i}:String}), 20)
      AND bitAnd(sides, ${sidesOf(query.direction)}) != 0 ${cursorCondition(cursor, order)}`;
    return `SELECT number, trace_index, write, attributes, value FROM ${partiesWhere(condition, reading.fetched, [address])}
      ORDER BY number ${order}, trace_index ${order} LIMIT ${MAX_LOOKS}`;
  });
  const looked = `SELECT DISTINCT number, trace_index, write, attributes, value FROM (${rows.map((one) => `(${one})`).join(' UNION ALL ')})
    ORDER BY number ${order}, trace_index ${order} LIMIT ${MAX_LOOKS}`;
  const passing = `SELECT number, trace_index, write, attributes FROM (${looked}) WHERE ${filterCondition(filter)}
    ORDER BY number ${order}, trace_index ${order} LIMIT {limit:UInt32}`;
  const from = `FROM (SELECT groupArray((number, trace_index, write, attributes)) AS found FROM (${passing})) AS f
    CROSS JOIN (SELECT count() AS looks, ${order === 'asc' ? 'max' : 'min'}((number, trace_index)) AS last
      FROM (${looked})) AS l`;
  const parameters = {
    ...windowParameters(window),
    ...Object.fromEntries(digits.map((address, i) => [`address${i}`, address])),
    limit,
    minValue: String(filter.minValue ?? 0n),
    cursorNumber: cursor?.blockNumber ?? 0,
    cursorIndex: cursor?.traceIndex ?? 0,
  };
  const statement = { range: window.proven, columns: 'found, looks, last', from, parameters };
  return rowWithPrints(reading, statement, (row) => {
    const found = row.array(() => ({
      number: row.uint32(),
      traceIndex: row.uint32(),
      write: row.bigUint64(),
      attributes: row.uint16(),
    }));
    const looks = row.uint64();
    const last = { number: row.uint32(), traceIndex: row.uint32() };
    return { found, last: looks < MAX_LOOKS ? undefined : last };
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
