import { type PostingTerm, type Side, writeHex } from '../../../traces/index.ts';

/**
 * Keys of the traces' environment, as bytes that sort as they should. The segment stands first in a posting's key:
 * all that is written while a chain grows then lies in one small region of the tree, however large the tree is.
 */

/** Sides by the byte that stands for them. */
export const SIDES: readonly Side[] = ['from', 'to', 'transaction'];
const TERM_BYTES = 20;
const SEGMENT_BYTES = 4;
/** What is left of a posting's key where the segment is known: side and term. */
export const SIDE_AND_TERM_BYTES = 1 + TERM_BYTES;
const LIST_KEY_BYTES = SEGMENT_BYTES + SIDE_AND_TERM_BYTES;
/** Where side and term stand in a posting's key. */
export const SIDE_AND_TERM_AT = SEGMENT_BYTES;

/** The key of a posting list's page 0: segment, side, term. */
export function postingKey(segment: number, side: Side, term: PostingTerm): Buffer {
  const key = Buffer.allocUnsafe(LIST_KEY_BYTES);
  key.writeUInt32BE(segment, 0);
  key[SIDE_AND_TERM_AT] = SIDES.indexOf(side);
  writeHex(key, SIDE_AND_TERM_AT + 1, term);
  return key;
}

/** The same of a side and a term that are bytes already. */
export function postingKeyOf(segment: number, sideAndTerm: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(LIST_KEY_BYTES);
  key.writeUInt32BE(segment, 0);
  key.set(sideAndTerm, SIDE_AND_TERM_AT);
  return key;
}

/** Before the keys of a side's lists in a segment. */
export function sideKey(segment: number, side: Side): Buffer {
  const key = Buffer.allocUnsafe(SIDE_AND_TERM_AT + 1);
  key.writeUInt32BE(segment, 0);
  key[SIDE_AND_TERM_AT] = SIDES.indexOf(side);
  return key;
}

/** The key of another page of the same list: most lists have only page 0, so the number stands on the others alone. */
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

export function uint32Key(value: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(value, 0);
  return key;
}
