import { type Address, type BlockRange, type HistorySummary, TRACE_TYPES } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import type { RowReader } from '../connection/rowBinary.ts';
import type { ChainReader } from '../reads/chainReader.ts';
import { validRowsCondition } from '../reads/rangeBlocks.ts';
import type { WideState } from '../reads/wideReader.ts';
import { COUNTED_BY_SEGMENT, checkCounts, readCounts } from '../tables/rowCounts.ts';
import { SIDE_BITS } from '../tables/rows.ts';
import type { Tables } from '../tables/tables.ts';
import { isEmpty, rangeParameters } from './addressRows.ts';

/** Maximum number of rows that are summed for one address. The newest rows are summed. */
const MAX_SUMMED = 2_000_000;

interface Parts {
  readonly clickHouse: ClickHouse;
  readonly tables: Tables;
  readonly reader: ChainReader;
}

const KIND = 'bitAnd(bitShiftRight(attributes, 8), 7)';
/** SQL: the index of a trace's type in TRACE_TYPES. The first four kinds of traces are calls. */
const TYPE = `if(${KIND} < 4, 0, ${KIND} - 3)`;

/** A sum can exceed 256 bits, so the upper and lower 128 bits are summed separately. */
const HALF_BITS = 128n;
const HALF = `toUInt256('${1n << HALF_BITS}')`;
const sumOf = (condition: string, name: string): string =>
  `sumIf(intDiv(value, ${HALF}), ${condition}) AS ${name}High, sumIf(value % ${HALF}, ${condition}) AS ${name}Low`;
const readSum = (row: RowReader): bigint => (row.uint256() << HALF_BITS) + row.uint256();

interface Sums {
  readonly ends: { readonly first: number; readonly last: number; readonly rows: number };
  /**
   * Number of the block of the first row beyond MAX_SUMMED, or -1. The rows of this block and of older ones are not
   * summed.
   */
  readonly cut: number;
  readonly types: readonly TypeSums[];
}

interface TypeSums {
  readonly type: number;
  readonly counts: Record<'from' | 'to', number>;
  readonly values: Record<'from' | 'to', bigint>;
}

/**
 * Returns the summary of an address. `state` must cover the whole range, and be read in descending order of blocks.
 */
export async function summarize(parts: Parts, address: Address, state: WideState): Promise<HistorySummary> {
  const { range, missing, missingUpTo: reported = range.fromBlock } = state;
  const sums = isEmpty(range) ? undefined : await readSums(parts, address, state);
  const lowest = Math.max(reported, sums === undefined || sums.cut < 0 ? reported : sums.cut + 1);
  const summed: BlockRange | undefined =
    lowest > range.toBlock ? undefined : { fromBlock: lowest, toBlock: range.toBlock };
  const of = <T>(zero: T, add: (sum: T, row: TypeSums, side: 'from' | 'to') => T) => ({
    from: (sums?.types ?? []).reduce((sum, row) => add(sum, row, 'from'), zero),
    to: (sums?.types ?? []).reduce((sum, row) => add(sum, row, 'to'), zero),
  });
  const isThere = sums !== undefined && sums.ends.rows > 0;
  return {
    range,
    firstBlock: isThere ? sums.ends.first : undefined,
    lastBlock: isThere ? sums.ends.last : undefined,
    counts: {
      by: of<readonly number[]>(
        TRACE_TYPES.map(() => 0),
        (sum, { type, counts }, side) => sum.map((count, i) => count + (i === type ? counts[side] : 0)),
      ),
      range: summed,
    },
    value: { by: of(0n, (sum, { values }, side) => sum + values[side]), range: summed },
    missing,
  };
}

function readSums({ clickHouse, tables }: Parts, address: Address, state: WideState): Promise<Sums> {
  const range = validRowsCondition(state.attempts);
  const rows = `${tables.byAddress} WHERE ${range} AND address = toFixedString(unhex({address:String}), 20)
    AND bitAnd(sides, ${SIDE_BITS.from | SIDE_BITS.to}) != 0`;
  const isFrom = `bitAnd(sides, ${SIDE_BITS.from}) != 0`;
  const isTo = `bitAnd(sides, ${SIDE_BITS.to}) != 0`;
  const cut = `SELECT max(number) AS cut, count() AS cuts FROM (
    SELECT number FROM ${rows} ORDER BY number DESC LIMIT 1 OFFSET ${MAX_SUMMED})`;
  const from = `FROM (SELECT min(number) AS lowest, max(number) AS highest, count() AS n FROM ${rows}) AS ends
    CROSS JOIN (${cut}) AS c
    CROSS JOIN (SELECT groupArray((type, froms, tos, paidHigh, paidLow, receivedHigh, receivedLow)) AS types FROM (
      SELECT toUInt8(${TYPE}) AS type, countIf(${isFrom}) AS froms, countIf(${isTo}) AS tos,
        ${sumOf(isFrom, 'paid')}, ${sumOf(isTo, 'received')}
      FROM ${rows} AND number >= {reported:UInt32}
        AND toInt64(number) > (SELECT if(cuts = 0, -1, toInt64(cut)) FROM (${cut})) GROUP BY type)) AS t
    CROSS JOIN (${COUNTED_BY_SEGMENT(tables.byAddress, range)}) AS counted`;
  const parameters = {
    ...rangeParameters(state),
    ...{ address: address.slice(2), reported: state.missingUpTo ?? state.range.fromBlock },
  };
  return clickHouse.row(
    { columns: 'lowest, highest, n, cut, cuts, types, counts', from, parameters },
    0,
    (row) => {
      const ends = { first: row.uint32(), last: row.uint32(), rows: row.uint64() };
      const [highest, cuts] = [row.uint32(), row.uint64()];
      const types = row.array(() => ({
        type: row.uint8(),
        counts: { from: row.uint64(), to: row.uint64() },
        values: { from: readSum(row), to: readSum(row) },
      }));
      checkCounts(readCounts(row), state.postings);
      return { ends, cut: cuts === 0 ? -1 : highest, types };
    },
  );
}
