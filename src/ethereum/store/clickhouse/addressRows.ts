import {
  type BlockRange,
  type Direction,
  type HistoryFilter,
  type HistoryPlace,
  type Order,
  TRACE_KINDS,
} from '../../traces/index.ts';
import type { ClickHouse, Parameters } from './clickHouse.ts';
import type { Place } from './place.ts';
import { digitsOf } from './places.ts';
import { COUNTED_BY_SEGMENT, checkCounts, readCounts } from './proof.ts';
import { CARRIES_VALUE, SIDE_BITS } from './rows.ts';
import { rowsThatCount } from './span.ts';
import type { Tables } from './tables.ts';
import type { WideState } from './wideReader.ts';

/** Bits of attributes, as src/ethereum/traces/chunk/attributes.ts has them. */
const KIND = 'bitAnd(bitShiftRight(attributes, 8), 7)';
const IS_INTERNAL = 1 << 11;
const HAS_FAILED = 1 << 12;
const IS_REWARD = 1 << 13;

/** Rows that one page looks at, at most. */
const MAX_LOOKS = 40_000;

/** What a page looked at: what passes, in order, and where it ended. */
export interface Looked {
  readonly found: readonly FoundPlace[];
  /** Undefined where it looked at all there is. */
  readonly last: Place | undefined;
}

export interface FoundPlace extends Place {
  readonly attributes: number;
}

export interface RowsQuery {
  readonly addresses: readonly string[];
  readonly direction: Direction;
  readonly order: Order;
  readonly filter: HistoryFilter;
  readonly limit: number;
  readonly behind: HistoryPlace | undefined;
}

export const rangeParameters = ({ chain, within, attempts }: WideState): Parameters => ({
  ...{ chain, first: within.fromBlock, last: within.toBlock },
  ...attempts,
});

export const isEmpty = ({ fromBlock, toBlock }: BlockRange): boolean => fromBlock > toBlock;

/** Looks at the rows of some addresses in order, a bounded number of them, for those that pass a filter. */
export function lookAtRows(
  { clickHouse, tables }: { readonly clickHouse: ClickHouse; readonly tables: Tables },
  query: RowsQuery,
  state: WideState,
): Promise<Looked> {
  const { addresses, order, filter, limit, behind } = query;
  const by = order === 'asc' ? 'ASC' : 'DESC';
  const range = rowsThatCount(state.attempts);
  const digits = digitsOf(addresses);
  // Of each address by itself: then they are read in order, and no further than is looked at.
  const rows = digits.map(
    (_, i) => `SELECT number, trace_index, attributes, value FROM ${tables.byAddress}
      WHERE ${range} AND address = toFixedString(unhex({address${i}:String}), 20)
        AND bitAnd(sides, ${sidesOf(query.direction)}) != 0 ${behindOf(behind, order)}
      ORDER BY number ${by}, trace_index ${by} LIMIT ${MAX_LOOKS}`,
  );
  const looked = `SELECT DISTINCT number, trace_index, attributes, value FROM (${rows.map((one) => `(${one})`).join(' UNION ALL ')})
    ORDER BY number ${by}, trace_index ${by} LIMIT ${MAX_LOOKS}`;
  const passing = `SELECT number, trace_index, attributes FROM (${looked}) WHERE ${passes(filter)}
    ORDER BY number ${by}, trace_index ${by} LIMIT {limit:UInt32}`;
  const from = `FROM (SELECT groupArray((number, trace_index, attributes)) AS found FROM (${passing})) AS f
    CROSS JOIN (SELECT count() AS looks, toUInt64(${order === 'asc' ? 'max' : 'min'}(number * 4294967296 + trace_index)) AS last
      FROM (${looked})) AS l
    CROSS JOIN (${COUNTED_BY_SEGMENT(tables.byAddress, range)}) AS counted`;
  const parameters = {
    ...rangeParameters(state),
    ...Object.fromEntries(digits.map((address, i) => [`address${i}`, address])),
    ...{ limit, minValue: String(filter.minValue ?? 0n) },
    ...{ behindNumber: behind?.blockNumber ?? 0, behindIndex: behind?.traceIndex ?? 0 },
  };
  return clickHouse.row(
    { columns: 'found, looks, intDiv(last, 4294967296), last % 4294967296, counts', from, parameters },
    0,
    (row) => {
      const found = row.array(() => ({
        ...{ number: row.uint32(), traceIndex: row.uint32(), attributes: row.uint16() },
      }));
      const looks = row.uint64();
      const last = { number: row.uint64(), traceIndex: row.uint64() };
      checkCounts(readCounts(row), state.postings);
      const step = order === 'asc' ? 1 : -1;
      found.sort((a, b) => step * (a.number - b.number || a.traceIndex - b.traceIndex));
      return { found, last: looks < MAX_LOOKS ? undefined : last };
    },
  );
}

const sidesOf = (direction: Direction): number =>
  direction === 'either' ? SIDE_BITS.from | SIDE_BITS.to : SIDE_BITS[direction];

function behindOf(behind: HistoryPlace | undefined, order: Order): string {
  if (behind === undefined) return '';
  const sign = order === 'asc' ? '>' : '<';
  return `AND (number ${sign} {behindNumber:UInt32} OR (number = {behindNumber:UInt32} AND trace_index ${sign} {behindIndex:UInt32}))`;
}

/** In SQL, what a trace must be. */
function passes({ kinds, minValue, internal, failed, callsCarryValue }: HistoryFilter): string {
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
