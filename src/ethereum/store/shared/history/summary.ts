import {
  type Address,
  type BlockRange,
  type HistorySummary,
  TRACE_TYPES,
  typeIn,
} from '../../../traces/index.ts';
import type { RowReader } from '../connection/rowBinary.ts';
import type { Reading } from '../reads/blocks.ts';
import { FINGERPRINTS, type Fingerprints, readFingerprints } from '../reads/segments.ts';
import { type Party, SIDE_BITS } from '../tables/rows.ts';
import { inWindow, type Window, windowParameters } from './window.ts';

/** Maximum number of rows that are summed for one address. The newest rows are summed. */
const MAX_SUMMED = 2_000_000;

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
  readonly prints: Fingerprints;
}

interface TypeSums {
  readonly type: number;
  readonly counts: Record<'from' | 'to', number>;
  readonly values: Record<'from' | 'to', bigint>;
}

/** Returns the summary of an address. `window` must cover the whole range, in descending order. */
export async function summarize(
  reading: Reading,
  address: Address,
  window: Window,
): Promise<{ summary: HistorySummary; prints: Fingerprints }> {
  const { range, missing, missingUpTo: reported = range.fromBlock } = window;
  const sums = await readSums(reading, address, window);
  const own = ownSums(reading, address, window);
  const numbers = [
    ...own.map(({ number }) => number),
    ...(sums.ends.rows > 0 ? [sums.ends.first, sums.ends.last] : []),
  ];
  const lowest = Math.max(reported, sums.cut + 1);
  const types = [...sums.types, ...own.filter(({ number }) => number >= lowest)];
  const summed: BlockRange | undefined =
    lowest > range.toBlock ? undefined : { fromBlock: lowest, toBlock: range.toBlock };
  const of = <T>(zero: T, add: (sum: T, row: TypeSums, side: 'from' | 'to') => T) => ({
    from: types.reduce((sum, row) => add(sum, row, 'from'), zero),
    to: types.reduce((sum, row) => add(sum, row, 'to'), zero),
  });
  const summary: HistorySummary = {
    range,
    firstBlock: numbers.length > 0 ? Math.min(...numbers) : undefined,
    lastBlock: numbers.length > 0 ? Math.max(...numbers) : undefined,
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
  return { summary, prints: sums.prints };
}

/** Returns the sums of each row by address of the fetched blocks. */
function ownSums(
  { fetched }: Reading,
  address: Address,
  { searchRange }: Window,
): (TypeSums & { readonly number: number })[] {
  const isOwn = ({ address: digits, sides }: Party): boolean =>
    digits === address.slice(2) && sides !== SIDE_BITS.transaction;
  return (fetched?.parties(searchRange) ?? []).filter(isOwn).map(({ number, sides, attributes, value }) => {
    const ifOn = <T>(side: 'from' | 'to', one: T, zero: T): T =>
      (sides & SIDE_BITS[side]) === 0 ? zero : one;
    return {
      ...{ number, type: typeIn(attributes) },
      counts: { from: ifOn('from', 1, 0), to: ifOn('to', 1, 0) },
      values: { from: ifOn('from', value, 0n), to: ifOn('to', value, 0n) },
    };
  });
}

function readSums(reading: Reading, address: Address, window: Window): Promise<Sums> {
  const range = inWindow(reading, window);
  const rows = `trace_parties WHERE ${range} AND address = toFixedString(unhex({address:String}), 20)
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
    ${FINGERPRINTS.from}`;
  const parameters = {
    ...windowParameters(reading, window),
    ...{ address: address.slice(2), reported: window.missingUpTo ?? window.range.fromBlock },
  };
  return reading.host.row(
    { columns: `lowest, highest, n, cut, cuts, types, ${FINGERPRINTS.columns}`, from, parameters },
    0,
    (row) => {
      const ends = { first: row.uint32(), last: row.uint32(), rows: row.uint64() };
      const [highest, cuts] = [row.uint32(), row.uint64()];
      const types = row.array(() => ({
        type: row.uint8(),
        counts: { from: row.uint64(), to: row.uint64() },
        values: { from: readSum(row), to: readSum(row) },
      }));
      return { ends, cut: cuts === 0 ? -1 : highest, types, prints: readFingerprints(row) };
    },
  );
}
