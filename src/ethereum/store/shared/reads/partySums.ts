import { checksumOf } from '../tables/checksums.ts';
import { eachParty } from '../tables/rows.ts';
import { BLOCKS_PER_PARTITION, columnsOf } from '../tables/tables.ts';
import type { Source } from './blocks.ts';

/** Number of rows that one statement reads, in a few seconds; more for an address with more rows. */
const ROWS_PER_STATEMENT = 16_000_000;
/** Number of statements that run at once. */
const STATEMENTS = 4;
/** Size of the sums of one statement: one for each block of the partition, and some of interrupted writes. */
const MAX_BYTES = 32 * BLOCKS_PER_PARTITION;
const ADDRESS_PREFIXES = 2 ** 32;

/** SQL: 64 bits of the SHA-256 of a row, as `checksumOf` returns them. */
const ROW_CHECKSUM = `reinterpretAsUInt64(substring(SHA256(concat(${columnsOf('trace_parties')
  .split(', ')
  .map((column) => (column === 'address' ? column : `reinterpretAsFixedString(${column})`))
  .join(', ')})), 1, 8))`;
const IN_PARTITION = `trace_parties WHERE chain = {chain:UInt64} AND intDiv(number, ${BLOCKS_PER_PARTITION}) = {partition:UInt32}`;

/** Sums of the checksums of rows by address, by `write`. */
export type PartySums = ReadonlyMap<bigint, bigint>;

export interface PartySumsOptions {
  /** Number of the partition, which consists of 1,048,576 blocks. */
  readonly partition: number;
  /** Called with the part that was read, from 0 to 1. */
  readonly progress: (part: number) => void;
  readonly rowsPerStatement?: number;
}

/**
 * Reads the rows by address of a partition, each once. Rows are sorted by address, so the rows of one block are spread
 * over the whole partition, and a statement for a single block reads as much.
 */
export async function readPartySums(
  { host, chain }: Source,
  { partition, progress, rowsPerStatement = ROWS_PER_STATEMENT }: PartySumsOptions,
): Promise<PartySums> {
  const parameters = { chain: String(chain), partition };
  const counted = { columns: 'n', from: `FROM (SELECT count() AS n FROM ${IN_PARTITION})`, parameters };
  const rows = await host.row(counted, (row) => row.uint64());
  const statements = Math.max(1, Math.ceil(rows / rowsPerStatement));
  const startOf = (i: number): string =>
    Math.round((i * ADDRESS_PREFIXES) / statements)
      .toString(16)
      .padStart(8, '0')
      .padEnd(40, '0');
  const sums = new Map<bigint, bigint>();
  const readStatement = async (i: number): Promise<void> => {
    const end = i + 1 < statements ? `AND address < unhex('${startOf(i + 1)}')` : '';
    const from = `FROM (SELECT groupArray((write, s)) AS sums FROM (
      SELECT write, sum(${ROW_CHECKSUM}) AS s FROM ${IN_PARTITION}
        AND address >= unhex('${startOf(i)}') ${end} GROUP BY write))`;
    await host.row({ columns: 'sums', from, parameters, maxBytes: MAX_BYTES }, (row) =>
      row.array(() => {
        const write = row.bigUint64();
        sums.set(write, BigInt.asUintN(64, (sums.get(write) ?? 0n) + row.bigUint64()));
      }),
    );
  };
  for (let i = 0; i < statements; i += STATEMENTS) {
    const next = Array.from({ length: Math.min(STATEMENTS, statements - i) }, (_, k) => i + k);
    await Promise.all(next.map(readStatement));
    progress((i + next.length) / statements);
  }
  return sums;
}

/** Returns the sum of the checksums of encoded rows by address. */
export const partySumOf = (rows: Buffer): bigint =>
  BigInt.asUintN(
    64,
    eachParty(rows).reduce((sum, row) => sum + checksumOf(row), 0n),
  );
