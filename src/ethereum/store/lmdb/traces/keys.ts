import { type PostingTerm, type Side, writeHex } from '../../../traces/index.ts';

/**
 * Keys of the records in the LMDB environment of the traces. LMDB sorts records by the bytes of their keys. Keys of
 * posting lists start with the segment, so a growing chain writes to one small region of the tree.
 */

/** Where a term can occur in a trace. The key of a posting list contains the index in this array, as one byte. */
export const SIDES: readonly Side[] = ['from', 'to', 'transaction'];
const TERM_BYTES = 20;
const SEGMENT_BYTES = 4;
/** Size of the side and the term in the key of a posting list. */
export const SIDE_AND_TERM_BYTES = 1 + TERM_BYTES;
const LIST_KEY_BYTES = SEGMENT_BYTES + SIDE_AND_TERM_BYTES;
export const SIDE_AND_TERM_AT = SEGMENT_BYTES;

/** Returns the key of page 0 of a posting list. */
export function postingKey(segment: number, side: Side, term: PostingTerm): Buffer {
  const key = Buffer.allocUnsafe(LIST_KEY_BYTES);
  key.writeUInt32BE(segment, 0);
  key[SIDE_AND_TERM_AT] = SIDES.indexOf(side);
  writeHex(key, SIDE_AND_TERM_AT + 1, term);
  return key;
}

export function postingKeyOf(segment: number, sideAndTerm: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(LIST_KEY_BYTES);
  key.writeUInt32BE(segment, 0);
  key.set(sideAndTerm, SIDE_AND_TERM_AT);
  return key;
}

/**
 * Returns a key that sorts before the keys of a segment's posting lists for one side (`from`, `to` or `transaction`).
 */
export function sideKey(segment: number, side: Side): Buffer {
  const key = Buffer.allocUnsafe(SIDE_AND_TERM_AT + 1);
  key.writeUInt32BE(segment, 0);
  key[SIDE_AND_TERM_AT] = SIDES.indexOf(side);
  return key;
}

/**
 * Returns the key of a page of a posting list. Most lists have only page 0, so the key of page 0 has no page number.
 */
export function pageKey(listKey: Buffer, page: number): Buffer {
  if (page === 0) return listKey;
  const key = Buffer.allocUnsafe(LIST_KEY_BYTES + 4);
  listKey.copy(key);
  key.writeUInt32BE(page, LIST_KEY_BYTES);
  return key;
}

export function chunkKey(blockNumber: number, chunk: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeUInt32BE(blockNumber, 0);
  key.writeUInt32BE(chunk, 4);
  return key;
}

/** Returns the range that contains the keys of all chunks of a block. */
export const chunksOf = (blockNumber: number): { readonly start: Buffer; readonly end: Buffer } => ({
  start: chunkKey(blockNumber, 0),
  end: chunkKey(blockNumber, 0xffffffff),
});

export function uint32Key(value: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(value, 0);
  return key;
}
