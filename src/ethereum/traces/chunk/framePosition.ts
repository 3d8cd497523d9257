import { CHUNK_HEAD_BYTES, HASH_BYTES, NO_TRANSACTION, TRANSACTION_BYTES } from './format.ts';
import { RecordReader, recordStart, uint32 } from './recordReader.ts';

/** Position of a frame in its block: the position of its transaction, and its path in the call tree. */
export interface FramePosition {
  readonly transactionPosition: number;
  readonly traceAddress: readonly number[];
}

const reader = new RecordReader();

/**
 * Returns a negative number if a trace is before a position, 0 if it is at the position, otherwise a positive number.
 * The traces of a block are in the order of transactions and then depth first, a frame before its children; rewards
 * are last.
 */
export function compareToPosition(
  chunk: Uint8Array,
  index: number,
  { transactionPosition, traceAddress }: FramePosition,
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

/** Returns the position in its block of the transaction `hash`; undefined if the trace is not of this transaction. */
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
