import { crc32 } from 'node:zlib';
import { deflatedBlocks } from './compress.ts';
import { crcShift, joinedCrc32 } from './crc32.ts';

/** Bytes that are kept compressed, to be sent with other texts before and behind them. */
export interface Deflated {
  /** Blocks of deflate that end at a whole byte. */
  readonly blocks: Buffer;
  readonly crc32: number;
  /** What the checksum of what stands before is multiplied by. */
  readonly crcShift: number;
  readonly originalBytes: number;
}

export async function deflated(bytes: Uint8Array): Promise<Deflated> {
  const blocks = await deflatedBlocks(bytes);
  // Unpooled memory of its own length: a slice would keep all of a larger piece.
  const own = Buffer.from(new Uint8Array(blocks).buffer);
  return { blocks: own, crc32: crc32(bytes), crcShift: crcShift(bytes.length), originalBytes: bytes.length };
}

/** gzip's head (RFC 1952, 2.3): deflate, no flags, no time, an unknown system. */
const GZIP_HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const BLOCK_HEAD_BYTES = 5;
const MAX_STORED_BYTES = 0xffff;
const TRAILER_BYTES = 8;

/**
 * One gzip member of a text, the kept bytes and another text: the texts stand in stored blocks (RFC 1951, 3.2.4), so that nothing is
 * compressed here. Undefined where a text is too long for one.
 */
export function gzipAround(before: string, kept: Deflated, behind: string): Buffer[] | undefined {
  const first = Buffer.from(before);
  const last = Buffer.from(behind);
  if (Math.max(first.length, last.length) > MAX_STORED_BYTES) return undefined;
  const start = Buffer.allocUnsafe(GZIP_HEAD.length + BLOCK_HEAD_BYTES + first.length);
  GZIP_HEAD.copy(start);
  writeStored(start, GZIP_HEAD.length, { text: first, isLast: false });
  const end = Buffer.allocUnsafe(BLOCK_HEAD_BYTES + last.length + TRAILER_BYTES);
  writeStored(end, 0, { text: last, isLast: true });
  const checksum = crc32(last, joinedCrc32(crc32(first), kept.crc32, kept.crcShift));
  end.writeUInt32LE(checksum, BLOCK_HEAD_BYTES + last.length);
  const bytes = first.length + kept.originalBytes + last.length;
  end.writeUInt32LE(bytes >>> 0, BLOCK_HEAD_BYTES + last.length + 4);
  return [start, kept.blocks, end];
}

function writeStored(
  into: Buffer,
  at: number,
  { text, isLast }: { readonly text: Buffer; readonly isLast: boolean },
): void {
  into.writeUInt8(isLast ? 1 : 0, at);
  into.writeUInt16LE(text.length, at + 1);
  into.writeUInt16LE(text.length ^ 0xffff, at + 3);
  text.copy(into, at + BLOCK_HEAD_BYTES);
}
