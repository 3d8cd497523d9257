import type { TraceFilter } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { IncompleteReplica } from '../connection/failures.ts';
import { SIDE_BITS } from '../tables/rows.ts';
import type { Tables } from '../tables/tables.ts';
import type { TracePosition } from '../tables/tracePosition.ts';
import type { RangeState } from './chainReader.ts';
import { validRowsCondition } from './rangeBlocks.ts';

/**
 * SQL condition: the address of a row is in a list. Several addresses need a subquery, because an arrayMap would be
 * compared with every row.
 */
const isOneOf = (parameter: string, { length }: readonly string[]): string =>
  length === 1
    ? `address = toFixedString(unhex({${parameter}:Array(String)}[1]), 20)`
    : `address IN (SELECT toFixedString(unhex(arrayJoin({${parameter}:Array(String)})), 20))`;

export const digitsOf = (addresses: readonly string[]): string[] =>
  [...new Set(addresses)].map((address) => address.slice(2));

/**
 * Finds the positions of the traces that match a filter, and counts all rows of its range. Throws IncompleteReplica
 * if a block has too few or too many rows.
 */
export function findMatchingTraces(
  { clickHouse, tables }: { readonly clickHouse: ClickHouse; readonly tables: Tables },
  filter: TraceFilter,
  { span, attempts }: RangeState,
): Promise<TracePosition[]> {
  const { fromBlock, toBlock, after, count } = filter;
  const range = validRowsCondition(attempts);
  const from = `FROM (SELECT groupArray((number, trace_index)) AS places FROM (
      SELECT number, trace_index FROM ${tables.byAddress} WHERE ${range} AND ${conditionOf(filter)}
      ORDER BY number, trace_index LIMIT {count:UInt32} OFFSET {after:UInt64})) AS found
    CROSS JOIN (SELECT groupArray((number, n)) AS counts FROM (
      SELECT number, count() AS n FROM ${tables.byAddress} WHERE ${range} GROUP BY number)) AS counted`;
  const parameters = {
    ...{ chain: span.chain, first: fromBlock, last: toBlock, after, count },
    ...attempts,
    ...{ from: digitsOf(filter.fromAddresses), to: digitsOf(filter.toAddresses) },
  };
  return clickHouse.row({ columns: 'places, counts', from, parameters }, 0, (row) => {
    const places = row.array(() => ({ number: row.uint32(), traceIndex: row.uint32() }));
    const counts = new Map(row.array((): [number, number] => [row.uint32(), row.uint64()]));
    for (let number = fromBlock; number <= toBlock; number++)
      if ((counts.get(number) ?? 0) !== span.postings(number))
        throw new IncompleteReplica(
          `ClickHouse: block ${number} has ${counts.get(number) ?? 0} of ${span.postings(number)} rows on the replica that responded`,
        );
    return places.sort((a, b) => a.number - b.number || a.traceIndex - b.traceIndex);
  });
}

/**
 * SQL: the conditions of a filter. Rows are grouped by trace only if the filter has senders and recipients. Otherwise
 * at most one row per trace matches.
 */
function conditionOf({ fromAddresses, toAddresses, mode }: TraceFilter): string {
  const bySide = (side: 'from' | 'to'): string =>
    `${isOneOf(side, side === 'from' ? fromAddresses : toAddresses)} AND bitAnd(sides, ${SIDE_BITS[side]}) != 0`;
  if (toAddresses.length === 0) return bySide('from');
  if (fromAddresses.length === 0) return bySide('to');
  const either = `((${bySide('from')}) OR (${bySide('to')})) GROUP BY number, trace_index`;
  if (mode === 'union') return either;
  return `${either} HAVING max(${bySide('from')}) AND max(${bySide('to')})`;
}

/** Returns the trace positions that a filter without addresses selects, from the trace counts of the blocks. */
export function positionsByCount(
  { fromBlock, toBlock, after, count }: TraceFilter,
  { span }: RangeState,
): TracePosition[] {
  const places: TracePosition[] = [];
  let skip = after;
  for (let number = fromBlock; number <= toBlock && places.length < count; number++) {
    const traces = span.traces(number);
    for (let traceIndex = skip; traceIndex < traces && places.length < count; traceIndex++)
      places.push({ number, traceIndex });
    skip = Math.max(0, skip - traces);
  }
  return places;
}

export const isUnrestricted = ({ fromAddresses, toAddresses }: TraceFilter): boolean =>
  fromAddresses.length === 0 && toAddresses.length === 0;
