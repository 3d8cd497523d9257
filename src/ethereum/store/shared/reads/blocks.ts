import type { BlockRange, Hash } from '../../../traces/index.ts';
import type { ClickHouse, Parameters } from '../connection/clickHouse.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { RowReader } from '../connection/rowReader.ts';
import {
  BLOCK_TUPLE,
  type BlockRow,
  EXACTNESS,
  isDamaged,
  isTraced,
  readBlockRow,
  validRows,
} from '../tables/blockRow.ts';
import type { FetchedBlocks } from './fetchedBlocks.ts';

/** The rows of a chain on a host. */
export interface Source {
  readonly host: ClickHouse;
  readonly chain: bigint;
}

/** The rows of a chain on a host, with blocks that were fetched because the host lacks them. */
export interface Reading extends Source {
  /** Blocks from nodes. They replace the blocks of the host. */
  readonly fetched: FetchedBlocks;
}

export type BlockRows = ReadonlyMap<number, BlockRow>;

/** SQL: the valid rows of the heights from {first} to {last}. */
export const VALID_IN_RANGE = validRows('number BETWEEN {first:UInt32} AND {last:UInt32}');

/** SQL: one row with the valid rows that a statement selects. */
export const grouped = (rows: string): string =>
  `SELECT groupArray(${BLOCK_TUPLE}) AS blocks FROM (${rows}) WHERE exactness > 0`;

/** Reads the result of `grouped`. Fetched blocks replace the blocks of the host. */
export const readGrouped = (row: RowReader, fetched: FetchedBlocks): BlockRows =>
  presentBlocks(readTuples(row), fetched);

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

/** Yields an error for each block with traces that has too few or too many rows by address. */
export function* wrongRows(blocks: Iterable<BlockRow>, rows: readonly WriteRows[]): Generator<UnprovenRead> {
  const ofWrite = new Map(rows.map(({ write, n }) => [write, n]));
  for (const block of blocks) {
    const { number, write, parties } = block;
    const n = ofWrite.get(write) ?? 0;
    if (isTraced(block) && n !== parties)
      yield new UnprovenRead(`ClickHouse: block ${number} has ${n} of ${parties} rows by address`, [number]);
  }
}

interface Linked {
  readonly number: number;
  /** Undefined if the hash is not known. */
  readonly hash: Hash | undefined;
  readonly parentHash: Hash | undefined;
}

/** Yields an error for each two blocks with consecutive numbers that are not parent and child. */
export function* wrongLinks(blocks: Iterable<Linked>): Generator<UnprovenRead> {
  let parent: Linked | undefined;
  for (const block of blocks) {
    const { number, parentHash = parent?.hash } = block;
    if (parent?.number === number - 1 && (parent.hash ?? parentHash) !== parentHash)
      yield new UnprovenRead(
        `the shared index: block ${number} is not the child of block ${parent.number}; run floodgate verify --trace-store`,
        [parent.number, number],
      );
    parent = block;
  }
}

/** Throws the first of the errors, with the blocks of all. */
export function throwUnproven(errors: Iterable<UnprovenRead>): void {
  const [first, ...others] = errors;
  if (first === undefined) return;
  throw new UnprovenRead(first.message, [...new Set([first, ...others].flatMap(({ blocks }) => blocks))]);
}

/** Returns the blocks from `fromBlock` to `toBlock`, their neighbours, and the fetched blocks, by number. */
export async function readRange({ host, chain, fetched }: Reading, range: BlockRange): Promise<BlockRows> {
  const rows = await readAny(host, VALID_IN_RANGE, { chain: String(chain), ...withNeighbours(range) });
  return presentBlocks(rows, fetched);
}

/** Returns the blocks with the given numbers, and the fetched blocks, by number. */
export async function readNumbers(reading: Reading, numbers: readonly number[]): Promise<BlockRows> {
  const rows = await readHeights(reading, numbers);
  return presentBlocks([...rows.values()], reading.fetched);
}

/** Throws UnprovenRead if a fetched block is not linked to its neighbours. */
export async function checkFetched(reading: Reading): Promise<void> {
  const near = reading.fetched.rows.flatMap(({ number }) => neighboursOf(number));
  throwUnproven(wrongLinks((await readNumbers(reading, near)).values()));
}

/** Returns a block number and the numbers of its neighbours. */
export const neighboursOf = (number: number): number[] => [Math.max(0, number - 1), number, number + 1];

/** Returns the valid rows of the given heights, also those that a rewind has marked as missing, or that are damaged. */
export async function readHeights({ host, chain }: Source, numbers: readonly number[]): Promise<BlockRows> {
  if (numbers.length === 0) return new Map();
  const parameters = { chain: String(chain), numbers: [...new Set(numbers)] };
  return byNumber(await readAny(host, validRows('number IN {numbers:Array(UInt32)}'), parameters));
}

/** Returns the rows that a statement selects from `trace_blocks`, in any order. Throws UnprovenRead if one is damaged. */
export async function readRows(host: ClickHouse, rows: string, parameters: Parameters): Promise<BlockRow[]> {
  const read = await readAny(host, rows, parameters);
  throwUnproven(wrongChecksums(read));
  return read;
}

/** Returns also damaged rows. */
const readAny = (host: ClickHouse, rows: string, parameters: Parameters): Promise<BlockRow[]> =>
  host.row({ columns: `groupArray(${BLOCK_TUPLE})`, from: `FROM (${rows})`, parameters }, readTuples);

/** Reads the result of `grouped`. Returns also damaged rows. */
export const readTuples = (row: RowReader): BlockRow[] => row.array(() => readBlockRow(row));

/**
 * Returns the present blocks among valid rows, and the fetched blocks, which replace them. Throws UnprovenRead if a row
 * is damaged whose block was not fetched.
 */
function presentBlocks(rows: readonly BlockRow[], fetched: FetchedBlocks): BlockRows {
  throwUnproven(fetched.unsolved(wrongChecksums(rows)));
  return byNumber([...rows.filter(({ exactness }) => exactness > EXACTNESS.missing), ...fetched.rows]);
}

/** Returns an error for each damaged row. */
export const wrongChecksums = (rows: readonly BlockRow[]): UnprovenRead[] =>
  rows
    .filter(isDamaged)
    .map(({ number }) => new UnprovenRead(`ClickHouse: the row of block ${number} is damaged`, [number]));

/** Returns rows by number, ascending. Of two rows with the same number, the later one is valid. */
export const byNumber = (rows: readonly BlockRow[]): BlockRows =>
  new Map([...rows].sort((a, b) => a.number - b.number).map((row) => [row.number, row]));

/** Returns the parameters `first` and `last` for a range with its neighbours. */
export const withNeighbours = ({ fromBlock, toBlock }: BlockRange): { first: number; last: number } => ({
  first: Math.max(0, fromBlock - 1),
  last: toBlock + 1,
});

/** A block whose hash the caller knows. A read fails if the store has another block of this number. */
export interface KnownBlock {
  readonly number: number;
  readonly hash: Hash;
}

/** Throws UnprovenRead if the block that the caller knows is another one in the store. */
export function checkTip(blocks: BlockRows, tip: KnownBlock | undefined): void {
  const held = tip && blocks.get(tip.number);
  if (tip !== undefined && held !== undefined && held.hash !== tip.hash)
    throw new UnprovenRead(
      `block ${tip.number} is ${held.hash} in the shared index, but ${tip.hash} in the local index`,
      [tip.number],
    );
}

/** Whether all blocks of a range are present with traces. Checks the links of the range and its neighbours. */
export function isWhole(blocks: BlockRows, { fromBlock, toBlock }: BlockRange): boolean {
  for (let number = fromBlock; number <= toBlock; number++) {
    const block = blocks.get(number);
    if (block === undefined || !isTraced(block)) return false;
  }
  throwUnproven(wrongLinks(blocks.values()));
  return true;
}
