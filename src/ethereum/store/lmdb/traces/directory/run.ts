import type { HalfSipHash } from './halfSipHash.ts';
import { varintBytes, writeVarint } from './parts.ts';

/**
 * A run of the directory: for each address of some segments, which of them have it, how often, and where, if that is seldom. It is
 * written once, as a table of buckets by the address's hash, so that one read finds an address.
 *
 *   bucket   entries
 *   entry    20 address, bytes of what follows (LEB128), parts (parts.ts)
 */

export const ADDRESS_BYTES = 20;

/** Bytes of a bucket, on average: between half of it and it. Small ones are soon searched, and leave little of a page empty. */
const BUCKET_BYTES = 1_200;
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

/** An address and what is known of it, in as many pieces as it was put together from. */
export interface Entry {
  readonly address: Uint8Array;
  readonly parts: readonly Uint8Array[];
}

export const bytesOf = (pieces: readonly Uint8Array[]): number => {
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  return bytes;
};

export function encodeBucket(entries: readonly Entry[]): Buffer {
  let bytes = 0;
  for (const { parts } of entries) {
    const length = bytesOf(parts);
    bytes += ADDRESS_BYTES + varintBytes(length) + length;
  }
  const bucket = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const { address, parts } of entries) {
    bucket.set(address, at);
    at = writeVarint(bucket, at + ADDRESS_BYTES, bytesOf(parts));
    for (const piece of parts) {
      bucket.set(piece, at);
      at += piece.length;
    }
  }
  return bucket;
}

/** Goes over the entries of a bucket. */
export class EntryReader {
  readonly #bytes: Uint8Array;
  /** Where the address stands, and the parts from and to. */
  at = 0;
  partsAt = 0;
  end = 0;

  constructor(bucket: Uint8Array) {
    this.#bytes = bucket;
  }

  /** Moves to the next entry; false at the end. */
  next(): boolean {
    const bytes = this.#bytes;
    this.at = this.end;
    if (this.at >= bytes.length) return false;
    let length = 0;
    let at = this.at + ADDRESS_BYTES;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[at++] ?? 0;
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    this.partsAt = at;
    this.end = at + length;
    return true;
  }

  /** Whether it is that of the address at `at` of `bytes`. */
  isOf(bytes: Uint8Array, at = 0): boolean {
    for (let i = 0; i < ADDRESS_BYTES; i++) if (this.#bytes[this.at + i] !== bytes[at + i]) return false;
    return true;
  }
}

/** The parts of an address in a bucket; undefined where it is not there. */
export function findParts(bucket: Uint8Array, address: Uint8Array): Uint8Array | undefined {
  const entry = new EntryReader(bucket);
  while (entry.next()) if (entry.isOf(address)) return bucket.subarray(entry.partsAt, entry.end);
  return undefined;
}
