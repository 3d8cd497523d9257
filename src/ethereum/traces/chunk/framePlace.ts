import { CHUNK_HEAD_BYTES, HASH_BYTES, NO_TRANSACTION, TRANSACTION_BYTES } from './format.ts';
import { RecordReader, recordStart, uint32 } from './recordReader.ts';

/** Where a frame stands in its block: its transaction's position, and its path in that. */
export interface FramePlace {
  readonly transactionPosition: number;
  readonly traceAddress: readonly number[];
}

const reader = new RecordReader();

/**
 * Whether trace `index` of a chunk stands before (negative), at (0) or behind (positive) a place. The traces of a block are in
 * this order: its transactions' frames depth first, a frame before its children, and rewards last.
 */
export function compareToPlace(
  chunk: Uint8Array,
  index: number,
  { transactionPosition, traceAddress }: FramePlace,
): number {
  reader.bytes = chunk;
  reader.at = recordStart(chunk, index);
  reader.byte();
  const transaction = reader.byte();
  if (transaction === NO_TRANSACTION) return 1;
  const position = uint32(chunk, transactionAt(transaction) + HASH_BYTES);
  if (position !== transactionPosition) return position - transactionPosition;
  reader.varint(); // subtraces
  const depth = reader.varint();
  for (let i = 0; i < depth; i++) {
    const other = traceAddress[i];
    if (other === undefined) return 1;
    const child = reader.varint();
    if (child !== other) return child - other;
  }
  return depth - traceAddress.length;
}

/** The position in its block of the transaction that trace `index` of a chunk is of; undefined where it is not this one's. */
export function transactionPositionOf(
  chunk: Uint8Array,
  index: number,
  hash: Uint8Array,
): number | undefined {
  const transaction = chunk[recordStart(chunk, index) + 1] ?? NO_TRANSACTION;
  if (transaction === NO_TRANSACTION) return undefined;
  const at = transactionAt(transaction);
  return hash.every((byte, i) => chunk[at + i] === byte) ? uint32(chunk, at + HASH_BYTES) : undefined;
}

const transactionAt = (transaction: number): number => CHUNK_HEAD_BYTES + TRANSACTION_BYTES * transaction;
