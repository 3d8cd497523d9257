import type { TraceFilter } from '../../traces/index.ts';
import type { RangeState } from './chainReader.ts';
import type { ClickHouse } from './clickHouse.ts';
import { IncompleteReplica } from './failures.ts';
import type { Place } from './place.ts';
import { SIDE_BITS } from './rows.ts';
import { rowsThatCount } from './span.ts';
import type { Tables } from './tables.ts';

/** In SQL: the address is of a parameter's. Several as a list of arrayMap's would not be looked up, but compared with each row; one needs no set. */
const isOneOf = (parameter: string, { length }: readonly string[]): string =>
  length === 1
    ? `address = toFixedString(unhex({${parameter}:Array(String)}[1]), 20)`
    : `address IN (SELECT toFixedString(unhex(arrayJoin({${parameter}:Array(String)})), 20))`;

export const digitsOf = (addresses: readonly string[]): string[] =>
  [...new Set(addresses)].map((address) => address.slice(2));

/**
 * The places of a filter's traces, in order. In the same query the rows of each block are counted: where the machine that
 * answers has not all of them, or more, it throws IncompleteReplica.
 */
export function matchingPlaces(
  { clickHouse, tables }: { readonly clickHouse: ClickHouse; readonly tables: Tables },
  filter: TraceFilter,
  { span, attempts }: RangeState,
): Promise<Place[]> {
  const { fromBlock, toBlock, after, count } = filter;
  const range = rowsThatCount(attempts);
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
          `ClickHouse: block ${number} has ${counts.get(number) ?? 0} of ${span.postings(number)} rows on the machine that answered`,
        );
    return places.sort((a, b) => a.number - b.number || a.traceIndex - b.traceIndex);
  });
}

/** A trace may be found by several rows only where both lists are given. */
function conditionOf({ fromAddresses, toAddresses, mode }: TraceFilter): string {
  const bySide = (side: 'from' | 'to'): string =>
    `${isOneOf(side, side === 'from' ? fromAddresses : toAddresses)} AND bitAnd(sides, ${SIDE_BITS[side]}) != 0`;
  if (toAddresses.length === 0) return bySide('from');
  if (fromAddresses.length === 0) return bySide('to');
  const either = `((${bySide('from')}) OR (${bySide('to')})) GROUP BY number, trace_index`;
  if (mode === 'union') return either;
  return `${either} HAVING max(${bySide('from')}) AND max(${bySide('to')})`;
}

/** Without addresses every trace matches: their places are told by how many each block has. */
export function countedPlaces(
  { fromBlock, toBlock, after, count }: TraceFilter,
  { span }: RangeState,
): Place[] {
  const places: Place[] = [];
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
