import { TRACE_TYPES } from '../../../../traces/index.ts';
import type { HalfSipHash } from './halfSipHash.ts';

/**
 * A run of the directory: for each address of some segments, which of them have it and how often. It is written once, as a table of
 * buckets by the address's hash, so that one read finds an address.
 *
 *   bucket   entries
 *   entry    20 address, bytes of what follows (LEB128), parts
 *   part     3 segment (big-endian), u8 columns, a count (LEB128) for each column that is set
 *
 * Columns are a side and a type of trace: which part of what is asked for a segment can have.
 */

export const ADDRESS_BYTES = 20;
const SEGMENT_BYTES = 3;

/** Of each side, the types of traces. */
export const COLUMNS = 2 * TRACE_TYPES.length;
/** Columns of senders, then of recipients. */
export const columnOf = (side: 'from' | 'to', type: number): number =>
  side === 'from' ? type : TRACE_TYPES.length + type;
export const SIDE_COLUMNS = { from: 0x0f, to: 0xf0, either: 0xff } as const;

/** Bytes of a bucket, on average: between half of it and it. Two of the largest that are usual fill a page. */
const BUCKET_BYTES = 2_400;
const MAX_BUCKET_BITS = 26;

/** Bits of a hash that tell buckets apart, for so many bytes of entries. */
export const bucketBitsFor = (bytes: number): number =>
  Math.min(MAX_BUCKET_BITS, Math.max(0, Math.ceil(Math.log2(bytes / BUCKET_BYTES))));

export const bucketOf = (hash: number, bits: number): number => (bits === 0 ? 0 : hash >>> (32 - bits));

export const hashOf = (hash: HalfSipHash, bytes: Uint8Array, at = 0): number =>
  hash.of(bytes, at, ADDRESS_BYTES);

/** The key of a run, under which its number of bucket bits stands. */
export function runKey(run: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(run, 0);
  return key;
}

export function bucketKey(run: number, bucket: number): Buffer {
  const key = Buffer.allocUnsafe(8);
  key.writeUInt32BE(run, 0);
  key.writeUInt32BE(bucket, 4);
  return key;
}

/** What stands under a run's key: bits of its buckets, and how many bytes its entries have. */
export function encodeRunHead(bits: number, bytes: number): Buffer {
  const head = Buffer.allocUnsafe(9);
  head[0] = bits;
  head.writeDoubleBE(bytes, 1);
  return head;
}

export const decodeRunHead = (head: Buffer): { bits: number; bytes: number } => ({
  bits: head[0] ?? 0,
  bytes: head.readDoubleBE(1),
});

/** An entry's parts as bytes. */
export interface Entry {
  readonly address: Uint8Array;
  readonly parts: Uint8Array;
}

export function encodeBucket(entries: readonly Entry[]): Buffer {
  const pieces: Uint8Array[] = [];
  for (const { address, parts } of entries) pieces.push(address, varint(parts.length), parts);
  return Buffer.concat(pieces);
}

export function* entriesIn(bucket: Uint8Array): Generator<Entry> {
  for (let at = 0; at < bucket.length; ) {
    const address = bucket.subarray(at, at + ADDRESS_BYTES);
    const length = readVarint(bucket, at + ADDRESS_BYTES);
    at = length.end + length.value;
    yield { address, parts: bucket.subarray(length.end, at) };
  }
}

/** The parts of an address in a bucket; undefined where it is not there. */
export function findParts(bucket: Uint8Array, address: Uint8Array): Uint8Array | undefined {
  for (let at = 0; at < bucket.length; ) {
    let same = 0;
    while (same < ADDRESS_BYTES && bucket[at + same] === address[same]) same++;
    const length = readVarint(bucket, at + ADDRESS_BYTES);
    at = length.end + length.value;
    if (same === ADDRESS_BYTES) return bucket.subarray(length.end, at);
  }
  return undefined;
}

/** A part: `counts` by column. */
export function encodePart(segment: number, counts: ArrayLike<number>): Buffer {
  const part = [segment >>> 16, (segment >>> 8) & 0xff, segment & 0xff, 0];
  for (let column = 0; column < COLUMNS; column++) {
    const count = counts[column] ?? 0;
    if (count === 0) continue;
    part[SEGMENT_BYTES] = (part[SEGMENT_BYTES] ?? 0) | (1 << column);
    part.push(...varint(count));
  }
  return Buffer.from(part);
}

/** Visits the parts of an entry: the segment, its columns, and the counts of those that are set, in `counts` until the next part. */
export function visitParts(
  parts: Uint8Array,
  counts: Float64Array,
  visit: (segment: number, columns: number) => void,
): void {
  for (let at = 0; at < parts.length; ) {
    const segment = ((parts[at] ?? 0) << 16) | ((parts[at + 1] ?? 0) << 8) | (parts[at + 2] ?? 0);
    const columns = parts[at + SEGMENT_BYTES] ?? 0;
    at += SEGMENT_BYTES + 1;
    for (let column = 0; column < COLUMNS; column++) {
      counts[column] = 0;
      if ((columns & (1 << column)) === 0) continue;
      let scale = 1;
      for (;;) {
        const byte = parts[at++] ?? 0;
        counts[column] = (counts[column] ?? 0) + (byte & 0x7f) * scale;
        if (byte < 0x80) break;
        scale *= 0x80;
      }
    }
    visit(segment, columns);
  }
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  let at = start;
  for (let scale = 1; ; scale *= 0x80) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, end: at };
  }
}
