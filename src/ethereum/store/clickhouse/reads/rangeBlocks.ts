import type { Hash } from '../../../traces/index.ts';
import type { ChunkedBlock } from '../tables/tracePosition.ts';

/**
 * Size of one block in the bytes of `RangeBlocks`: hash, number of traces, number of rows in `by_address`, attempt
 * number.
 */
const HASH_BYTES = 32;
const BLOCK_BYTES = HASH_BYTES + 4 + 4 + 4;
/** Attempt number that no row has. Used for blocks that have rows but no canonical attempt. */
const NO_ATTEMPT = 0xffff;

/** SQL: encodes one block as `RangeBlocks` expects it. */
export const BLOCK_AS_BYTES = 'hash || int4send(traces) || int4send(postings) || int4send(attempt)';

/**
 * Consecutive blocks, read from one PostgreSQL snapshot. Each has the attempt number and the count of its valid rows.
 */
export class RangeBlocks {
  readonly chain: number;
  readonly #first: number;
  readonly #bytes: Buffer;

  constructor(chain: number, first: number, bytes: Buffer) {
    this.chain = chain;
    this.#first = first;
    this.#bytes = bytes;
  }

  block(number: number): ChunkedBlock {
    const at = this.#at(number);
    const hash = `0x${this.#bytes.toString('hex', at, at + HASH_BYTES)}` as Hash; // 32 bytes as digits
    return { number, hash, attempt: this.#attempt(number), traces: this.traces(number) };
  }

  traces(number: number): number {
    return this.#bytes.readUInt32BE(this.#at(number) + HASH_BYTES);
  }

  postings(number: number): number {
    return this.#bytes.readUInt32BE(this.#at(number) + HASH_BYTES + 4);
  }

  #attempt(number: number): number {
    return this.#bytes.readUInt32BE(this.#at(number) + HASH_BYTES + 8);
  }

  #at(number: number): number {
    return (number - this.#first) * BLOCK_BYTES;
  }
}

/**
 * Blocks whose valid rows have an attempt number other than 0: `attempts[i]` is the attempt number of block
 * `numbers[i]`.
 */
export interface Attempts {
  readonly numbers: readonly number[];
  readonly attempts: readonly number[];
}

/**
 * ClickHouse SQL: condition for the valid rows of a range of blocks. If all attempts are 0, no lookup per row is
 * needed.
 */
export const validRowsCondition = ({ numbers }: Attempts): string =>
  `chain = {chain:UInt32} AND number BETWEEN {first:UInt32} AND {last:UInt32} AND attempt = ${
    numbers.length === 0
      ? '0'
      : 'transform(number, {numbers:Array(UInt32)}, {attempts:Array(UInt16)}, toUInt16(0))'
  }`;

/**
 * PostgreSQL SQL: the blocks of chain $1 from $2 to $3 whose canonical attempt is not 0, or that have only attempts
 * that are not canonical.
 */
export const UNUSUAL = `SELECT u.number, coalesce(c.attempt, ${NO_ATTEMPT}) AS attempt
  FROM (SELECT DISTINCT number FROM floodgate_traces.blocks
    WHERE chain = $1 AND number BETWEEN $2 AND $3 AND (attempt > 0 OR NOT is_canonical)) u
  LEFT JOIN floodgate_traces.blocks c ON c.chain = $1 AND c.number = u.number AND c.is_canonical
  WHERE coalesce(c.attempt, ${NO_ATTEMPT}) > 0`;

export const attemptsOf = (
  rows: readonly { readonly number: number; readonly attempt: number }[],
): Attempts => ({
  numbers: rows.map(({ number }) => number),
  attempts: rows.map(({ attempt }) => attempt),
});

export const attemptOf = ({ numbers, attempts }: Attempts, number: number): number => {
  const i = numbers.indexOf(number);
  return i < 0 ? 0 : (attempts[i] ?? 0);
};
