import type { PostingTerm, Side } from '../../../traces/index.ts';

/**
 * Keys of the traces' environment, as bytes that sort as they should. The segment stands first in a posting's key:
 * all that is written while a chain grows then lies in one small region of the tree, however large the tree is.
 */

const SIDE_BYTES: Readonly<Record<Side, number>> = { from: 0, to: 1, transaction: 2 };
const TERM_BYTES = 20;

/** Segment, side, term, page number. */
const POSTING_KEY_BYTES = 4 + 1 + TERM_BYTES + 4;

export function postingKey(segment: number, side: Side, term: PostingTerm, page: number): Buffer {
  const key = Buffer.allocUnsafe(POSTING_KEY_BYTES);
  key.writeUInt32BE(segment, 0);
  key[4] = SIDE_BYTES[side];
  key.write(term, 5, TERM_BYTES, 'hex');
  key.writeUInt32BE(page, 5 + TERM_BYTES);
  return key;
}

/** The same list's key for another page. */
export function withPage(key: Buffer, page: number): Buffer {
  const copy = Buffer.from(key);
  copy.writeUInt32BE(page, 5 + TERM_BYTES);
  return copy;
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
