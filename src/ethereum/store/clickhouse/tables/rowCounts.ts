import { IncompleteReplica } from '../connection/failures.ts';
import type { RowReader } from '../connection/rowBinary.ts';

/**
 * SQL: counts the rows of each segment. This is part of the search query, so that count and search read the same
 * data.
 */
export const COUNTED_BY_SEGMENT = (table: string, range: string): string =>
  `SELECT groupArray((segment, n)) AS counts FROM (
    SELECT intDiv(number, 1024) AS segment, count() AS n FROM ${table} WHERE ${range} GROUP BY segment)`;

export const readCounts = (row: RowReader): Map<number, number> =>
  new Map(row.array((): [number, number] => [row.uint32(), row.uint64()]));

/** Throws IncompleteReplica if the replica has too few or too many rows of a segment. */
export function checkCounts(
  counts: ReadonlyMap<number, number>,
  expected: ReadonlyMap<number, number>,
): void {
  for (const segment of new Set([...counts.keys(), ...expected.keys()]))
    if (counts.get(segment) !== expected.get(segment))
      throw new IncompleteReplica(
        `ClickHouse: blocks ${segment * 1024} to ${segment * 1024 + 1023} have ${counts.get(segment) ?? 0} of ${expected.get(segment) ?? 0} rows on the replica that responded`,
      );
}
