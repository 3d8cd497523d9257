import { type Hash, type StoredBlock, TRACE_FAILURES, type TraceFailure } from '../../../traces/index.ts';
import { nativeRows, type Rows } from '../connection/native.ts';
import type { RowReader } from '../connection/rowBinary.ts';
import { columnsOf } from './tables.ts';

/** How exact the source of a block is. A higher value outranks a lower one. */
export const EXACTNESS = { missing: 0, unavailable: 1, lacksFrames: 2, complete: 3 } as const;

const HASH_BYTES = 32;

/** A row of `trace_blocks`. */
export interface BlockRow extends StoredBlock {
  readonly version: number;
  readonly exactness: number;
  readonly write: bigint;
  /** Number of rows of the block in `trace_chunks` and in `trace_parties`. */
  readonly chunks: number;
  readonly parties: number;
  readonly digest: Buffer;
}

export const isTraced = ({ exactness }: BlockRow): boolean => exactness > EXACTNESS.unavailable;

const COLUMNS = columnsOf('trace_blocks').replace('chain, ', '');
export const BLOCK_TUPLE = `(${COLUMNS})`;

/**
 * SQL: the valid row of each height that meets a condition. A height whose valid row marks it as missing has a row
 * too.
 */
export const validRows = (condition: string): string =>
  `SELECT ${COLUMNS} FROM trace_blocks WHERE chain = {chain:UInt64} AND ${condition}
    ORDER BY number, version DESC, exactness DESC, digest DESC, write DESC LIMIT 1 BY number`;

/** Reads a value of type BLOCK_TUPLE. */
export function readBlockRow(row: RowReader): BlockRow {
  const number = row.uint32();
  const [version, exactness, failure] = [row.uint32(), row.uint8(), row.uint8()];
  const write = row.bigUint64();
  const [hash, parentHash] = [readHash(row), readHash(row)];
  const timestamp = row.uint64();
  const [traceCount, chunks, parties] = [row.uint32(), row.uint32(), row.uint32()];
  const unavailable = TRACE_FAILURES[failure - 1];
  return {
    ...{ number, hash, parentHash, timestamp, traceCount, ...(unavailable && { unavailable }) },
    ...{ version, exactness, write, chunks, parties, digest: row.fixed(HASH_BYTES) },
  };
}

export const readHash = (row: RowReader): Hash => `0x${row.fixed(HASH_BYTES).toString('hex')}` as Hash; // 32 bytes

/** Returns a row without the columns that only this store has. */
export const storedBlockOf = ({
  number,
  hash,
  parentHash,
  timestamp,
  traceCount,
  unavailable,
}: BlockRow): StoredBlock => ({
  ...{ number, hash, parentHash, timestamp, traceCount, ...(unavailable && { unavailable }) },
});

export function blockRows(chain: bigint, rows: readonly BlockRow[]): Rows {
  const words = (read: (row: BlockRow) => number): Uint32Array => Uint32Array.from(rows, read);
  const longs = (read: (row: BlockRow) => bigint): BigUint64Array => BigUint64Array.from(rows, read);
  const bytes = (read: (row: BlockRow) => number): Uint8Array => Uint8Array.from(rows, read);
  const fixed = (read: (row: BlockRow) => Buffer): Buffer => Buffer.concat(rows.map(read));
  return nativeRows(rows.length, [
    ['chain', 'UInt64', longs(() => chain)],
    ['number', 'UInt32', words(({ number }) => number)],
    ['version', 'UInt32', words(({ version }) => version)],
    ['exactness', 'UInt8', bytes(({ exactness }) => exactness)],
    ['failure', 'UInt8', bytes(({ unavailable }) => failureCodeOf(unavailable))],
    ['write', 'UInt64', longs(({ write }) => write)],
    ['hash', 'FixedString(32)', fixed(({ hash }) => bytesOf(hash))],
    ['parent', 'FixedString(32)', fixed(({ parentHash }) => bytesOf(parentHash))],
    ['timestamp', 'UInt64', longs(({ timestamp }) => BigInt(timestamp))],
    ['traces', 'UInt32', words(({ traceCount }) => traceCount)],
    ['chunks', 'UInt32', words(({ chunks }) => chunks)],
    ['parties', 'UInt32', words(({ parties }) => parties)],
    ['digest', 'FixedString(32)', fixed(({ digest }) => digest)],
  ]);
}

const failureCodeOf = (failure: TraceFailure | undefined): number =>
  failure === undefined ? 0 : TRACE_FAILURES.indexOf(failure) + 1;

export const bytesOf = (hash: Hash): Buffer => Buffer.from(hash.slice(2), 'hex');
