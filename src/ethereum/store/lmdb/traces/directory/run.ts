import { doubled } from '../../../../traces/index.ts';
import type { HalfSipHash } from './halfSipHash.ts';
import { writeVarint } from './parts.ts';

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

const INITIAL_BYTES = 4 * BUCKET_BYTES;
const MAX_VARINT_BYTES = 5;
/** Fewer bytes are copied faster one by one. */
const FEW_BYTES = 64;

/** Puts buckets together, one after the other. */
export class BucketWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #length = 0;

  /** Begins the entry of the address at `at` of `bytes`. So many bytes of parts are to follow. */
  entry(bytes: Uint8Array, at: number, partBytes: number): void {
    this.#makeRoom(ADDRESS_BYTES + MAX_VARINT_BYTES + partBytes);
    this.parts(bytes, at, at + ADDRESS_BYTES);
    this.#length = writeVarint(this.#bytes, this.#length, partBytes);
  }

  /** A whole entry, as it stands from `start` to `end`. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    this.#makeRoom(end - start);
    this.parts(bytes, start, end);
  }

  /** The bytes from `start` to `end`, as parts of the entry that was begun last. */
  parts(bytes: Uint8Array, start: number, end: number): void {
    const target = this.#bytes;
    let length = this.#length;
    if (end - start > FEW_BYTES) {
      target.set(bytes.subarray(start, end), length);
      length += end - start;
    } else for (let at = start; at < end; at++) target[length++] = bytes[at] ?? 0;
    this.#length = length;
  }

  /** Bytes that were written since they were taken the last time. */
  get length(): number {
    return this.#length;
  }

  /** What was written since the last time; undefined where nothing was. */
  take(): Buffer | undefined {
    const bucket = this.#length === 0 ? undefined : Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return bucket;
  }

  #makeRoom(bytes: number): void {
    while (this.#length + bytes > this.#bytes.length) this.#bytes = doubled(this.#bytes);
  }
}

/** Goes over the entries of a bucket. */
export class EntryReader {
  readonly bytes: Uint8Array;
  /** Where the address stands, and the parts from and to. */
  at = 0;
  partsAt = 0;
  end = 0;

  constructor(bucket: Uint8Array) {
    this.bytes = bucket;
  }

  /** Moves to the next entry; false at the end. */
  next(): boolean {
    const { bytes } = this;
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
    for (let i = 0; i < ADDRESS_BYTES; i++) if (this.bytes[this.at + i] !== bytes[at + i]) return false;
    return true;
  }
}

/** The parts of an address in a bucket; undefined where it is not there. */
export function findParts(bucket: Uint8Array, address: Uint8Array): Uint8Array | undefined {
  const entry = new EntryReader(bucket);
  while (entry.next()) if (entry.isOf(address)) return bucket.subarray(entry.partsAt, entry.end);
  return undefined;
}
