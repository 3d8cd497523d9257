import {
  type Hash,
  IndexConflictError,
  type StoredBlock,
  TRACE_FAILURES,
  type TraceFailure,
} from '../../../traces/index.ts';
import { RowReader } from '../connection/rowReader.ts';
import { RowWriter } from '../connection/rowWriter.ts';
import { checksumOf } from './checksums.ts';
import { columnsOf, MAX_UINT32 } from './tables.ts';

/**
 * How exact the source of a block is. A higher value outranks a lower one. A row that is read with a wrong checksum is
 * `damaged`, which is not stored.
 */
export const EXACTNESS = { damaged: -1, missing: 0, unavailable: 1, lacksFrames: 2, complete: 3 } as const;

const HASH_BYTES = 32;
/** Size of the columns between `chain` and `checksum`. */
const CONTENT_BYTES = 134;

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

export const isDamaged = ({ exactness }: BlockRow): boolean => exactness === EXACTNESS.damaged;

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
export function readBlockRow(tuple: RowReader): BlockRow {
  const content = tuple.fixed(CONTENT_BYTES);
  const isIntact = tuple.bigUint64() === checksumOf(content);
  const row = new RowReader(content);
  const number = row.uint32();
  const [version, exactness, failure] = [row.uint32(), row.uint8(), row.uint8()];
  const write = row.bigUint64();
  const [hash, parentHash] = [readHash(row), readHash(row)];
  const timestamp = row.uint64();
  const [traceCount, chunks, parties] = [row.uint32(), row.uint32(), row.uint32()];
  const unavailable = TRACE_FAILURES[failure - 1];
  // A literal without spreads, because a read of a range creates hundreds of these objects.
  const block: BlockRow = {
    number,
    hash,
    parentHash,
    timestamp,
    traceCount,
    version,
    write,
    chunks,
    parties,
    digest: row.fixed(HASH_BYTES),
    exactness: isIntact ? exactness : EXACTNESS.damaged,
  };
  return unavailable === undefined ? block : { ...block, unavailable };
}

export const readHash = (row: RowReader): Hash => `0x${row.fixed(HASH_BYTES).toString('hex')}` as Hash; // 32 bytes

/** Returns a row without the columns that only this store has. */
export function storedBlockOf(row: BlockRow): StoredBlock {
  const { version, exactness, write, chunks, parties, digest, ...block } = row;
  return block;
}

export function blockRows(chain: bigint, blocks: readonly BlockRow[]): Buffer {
  const rows = new RowWriter();
  for (const { number, version, exactness, unavailable, write, hash, parentHash, ...block } of blocks) {
    // Only damage reaches the highest version.
    if (version > MAX_UINT32)
      throw new IndexConflictError(
        `block ${number}: a damaged row outranks every other: delete the rows of this number from trace_blocks`,
      );
    const content = new RowWriter(CONTENT_BYTES);
    content.uint32(number).uint32(version).uint8(exactness).uint8(failureCodeOf(unavailable));
    content.uint64(write).hex(hash).hex(parentHash).uint64(BigInt(block.timestamp));
    content.uint32(block.traceCount).uint32(block.chunks).uint32(block.parties).fixed(block.digest);
    rows.uint64(chain).fixed(content.written).uint64(checksumOf(content.written));
  }
  return rows.written;
}

const failureCodeOf = (failure: TraceFailure | undefined): number =>
  failure === undefined ? 0 : TRACE_FAILURES.indexOf(failure) + 1;
