import type { BlockRange } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { RowReader } from '../connection/rowBinary.ts';
import {
  BLOCK_TUPLE,
  type BlockRow,
  EXACTNESS,
  isTraced,
  readBlockRow,
  validRows,
} from '../tables/blockRow.ts';

export type BlockRows = ReadonlyMap<number, BlockRow>;

/** SQL: the valid rows of the heights from {first} to {last}. */
export const VALID_IN_RANGE = validRows('number BETWEEN {first:UInt32} AND {last:UInt32}');

/** SQL: one row with the valid rows that a statement selects. */
export const grouped = (rows: string): string =>
  `SELECT groupArray(${BLOCK_TUPLE}) AS blocks FROM (${rows}) WHERE exactness > 0`;

/** SQL: one row with the number of rows by address of each write of the heights from {first} to {last}. */
export const ROWS_BY_WRITE = `SELECT groupArray((number, write, n)) AS rows FROM (
  SELECT number, write, count() AS n FROM trace_parties
  WHERE chain = {chain:UInt64} AND number BETWEEN {first:UInt32} AND {last:UInt32} GROUP BY number, write)`;

/** Number of rows by address of a write of a block. */
export interface WriteRows {
  readonly number: number;
  readonly write: bigint;
  readonly n: number;
}

/** Reads the column of ROWS_BY_WRITE. */
export const readWriteRows = (row: RowReader): WriteRows[] =>
  row.array(() => ({ number: row.uint32(), write: row.bigUint64(), n: row.uint64() }));

/** Throws UnprovenRead if a block with traces has too few or too many rows by address. */
export function checkRows(blocks: Iterable<BlockRow>, rows: readonly WriteRows[]): void {
  const ofWrite = new Map(rows.map(({ write, n }) => [write, n]));
  for (const block of blocks) {
    const { number, write, parties } = block;
    const n = ofWrite.get(write) ?? 0;
    if (isTraced(block) && n !== parties)
      throw new UnprovenRead(`ClickHouse: block ${number} has ${n} of ${parties} rows by address`);
  }
}

/** Returns the blocks from `fromBlock` to `toBlock` and their neighbours, by number. */
export async function readRange(host: ClickHouse, chain: bigint, range: BlockRange): Promise<BlockRows> {
  const parameters = { chain: String(chain), ...withNeighbours(range) };
  const statement = { columns: 'blocks', from: `FROM (${grouped(VALID_IN_RANGE)})`, parameters };
  return byNumber(await host.row(statement, 0, (row) => row.array(() => readBlockRow(row))));
}

/** Returns the blocks with the given numbers, by number. */
export async function readNumbers(
  host: ClickHouse,
  chain: bigint,
  numbers: readonly number[],
): Promise<BlockRows> {
  const rows = await readHeights(host, chain, numbers);
  return new Map([...rows].filter(([, { exactness }]) => exactness > EXACTNESS.missing));
}

/** Returns the valid rows of the given heights, also of those that a rewind has marked as missing. */
export async function readHeights(
  host: ClickHouse,
  chain: bigint,
  numbers: readonly number[],
): Promise<BlockRows> {
  if (numbers.length === 0) return new Map();
  const parameters = { chain: String(chain), numbers: [...new Set(numbers)] };
  const valid = validRows('number IN {numbers:Array(UInt32)}');
  const from = `FROM (SELECT groupArray(${BLOCK_TUPLE}) AS blocks FROM (${valid}))`;
  return byNumber(
    await host.row({ columns: 'blocks', from, parameters }, 0, (row) => row.array(() => readBlockRow(row))),
  );
}

export const byNumber = (rows: readonly BlockRow[]): BlockRows =>
  new Map([...rows].sort((a, b) => a.number - b.number).map((row) => [row.number, row]));

/** Returns the parameters `first` and `last` for a range with its neighbours. */
export const withNeighbours = ({ fromBlock, toBlock }: BlockRange): { first: number; last: number } => ({
  first: Math.max(0, fromBlock - 1),
  last: toBlock + 1,
});

/** Throws UnprovenRead if two blocks with consecutive numbers are not parent and child. */
export function checkLinks(blocks: Iterable<BlockRow>): void {
  let parent: BlockRow | undefined;
  for (const block of blocks) {
    if (parent?.number === block.number - 1 && parent.hash !== block.parentHash)
      throw new UnprovenRead(
        `the shared index: block ${block.number} is not the child of block ${parent.number}; run floodgate verify --trace-store`,
      );
    parent = block;
  }
}

/** Whether all blocks of a range are present with traces. Checks the links of the range and its neighbours. */
export function isWhole(blocks: BlockRows, { fromBlock, toBlock }: BlockRange): boolean {
  for (let number = fromBlock; number <= toBlock; number++) {
    const block = blocks.get(number);
    if (block === undefined || !isTraced(block)) return false;
  }
  checkLinks(blocks.values());
  return true;
}
