import { type Address, type HistorySummary, TRACE_TYPES } from '../../../traces/index.ts';
import type { RowReader } from '../connection/rowReader.ts';
import type { Reading } from '../reads/blocks.ts';
import { partiesWhere } from '../reads/fetchedBlocks.ts';
import { rowWithPrints } from '../reads/segments.ts';
import { SIDE_BITS } from '../tables/rows.ts';
import { KIND } from './addressRows.ts';
import { inWindow, type Window, windowParameters } from './window.ts';

/** Maximum number of rows that are summed for one address. The newest rows are summed. */
const MAX_SUMMED = 2_000_000;

/** SQL: the index of a trace's type in TRACE_TYPES. The first four kinds of traces are calls. */
const TYPE = `if(${KIND} < 4, 0, ${KIND} - 3)`;

/** A sum can exceed 256 bits, so the upper and lower 128 bits are summed separately. */
const HALF_BITS = 128n;
const HALF = `toUInt256('${1n << HALF_BITS}')`;
const sumOf = (condition: string, name: string): string =>
  `toString(sumIf(intDiv(value, ${HALF}), ${condition})) AS ${name}High,
  toString(sumIf(value % ${HALF}, ${condition})) AS ${name}Low`;
const readNumber = (row: RowReader): bigint => BigInt(row.bytes().toString());
const readSum = (row: RowReader): bigint => (readNumber(row) << HALF_BITS) + readNumber(row);

/** Returns the summary of an address. `window` must cover the whole range, in descending order. */
export function summarize(reading: Reading, address: Address, window: Window) {
  const { range, missing, missingUpTo = range.fromBlock } = window;
  const digits = address.slice(2);
  const isFrom = `bitAnd(sides, ${SIDE_BITS.from}) != 0`;
  const isTo = `bitAnd(sides, ${SIDE_BITS.to}) != 0`;
  const isOwn = `${inWindow(window)} AND address = toFixedString(unhex({address:String}), 20)
    AND bitAnd(sides, ${SIDE_BITS.from | SIDE_BITS.to}) != 0`;
  const rowsIf = (condition: string): string => partiesWhere(condition, reading.fetched, [digits]);
  const lowest = `SELECT greatest({reported:UInt64}, if(count() = 0, 0, toUInt64(max(number)) + 1)) AS summed FROM (
    SELECT number FROM ${rowsIf(isOwn)} ORDER BY number DESC LIMIT 1 OFFSET ${MAX_SUMMED})`;
  const from = `FROM (SELECT min(number) AS lowest, max(number) AS highest, count() AS n FROM ${rowsIf(isOwn)}) AS ends
    CROSS JOIN (${lowest}) AS l
    CROSS JOIN (SELECT groupArray((type, froms, tos, paidHigh, paidLow, receivedHigh, receivedLow)) AS types FROM (
      SELECT toUInt8(${TYPE}) AS type, countIf(${isFrom}) AS froms, countIf(${isTo}) AS tos,
        ${sumOf(isFrom, 'paid')}, ${sumOf(isTo, 'received')}
      FROM ${rowsIf(`${isOwn} AND number >= (${lowest})`)} GROUP BY type)) AS t`;
  const parameters = { ...windowParameters(window), address: digits, reported: missingUpTo };
  const columns = 'lowest, highest, n, summed, types';
  return rowWithPrints(reading, { range: window.proven, columns, from, parameters }, (row) => {
    const [first, last, rows, fromBlock] = [row.uint32(), row.uint32(), row.uint64(), row.uint64()];
    const types = row.array(() => ({
      type: row.uint8(),
      counts: { from: row.uint64(), to: row.uint64() },
      values: { from: readSum(row), to: readSum(row) },
    }));
    const summed = fromBlock > range.toBlock ? undefined : { fromBlock, toBlock: range.toBlock };
    const countsOf = (side: 'from' | 'to'): number[] =>
      TRACE_TYPES.map((_, index) => types.find(({ type }) => type === index)?.counts[side] ?? 0);
    const transferred = (side: 'from' | 'to'): bigint =>
      types.reduce((sum, { values }) => sum + values[side], 0n);
    const summary: HistorySummary = {
      range,
      firstBlock: rows > 0 ? first : undefined,
      lastBlock: rows > 0 ? last : undefined,
      counts: { by: { from: countsOf('from'), to: countsOf('to') }, range: summed },
      value: { by: { from: transferred('from'), to: transferred('to') }, range: summed },
      missing,
    };
    return { summary };
  });
}
