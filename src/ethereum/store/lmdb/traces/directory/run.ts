import { doubled } from '../../../../traces/index.ts';
import type { HalfSipHash } from './halfSipHash.ts';
import { writeVarint } from './parts.ts';

/**
 * A run of the directory covers some segments. For each address in them it stores which segments have traces of the
 * address, how many, and the positions of these traces if they are few. A run is written once, as a table of buckets.
 * The hash of an address selects the bucket, so that one read finds the address.
 *
 *   bucket   entries
 *   entry    20 bytes address, length of the parts (LEB128), parts (parts.ts)
 */

export interface RunName {
  readonly level: number;
  readonly run: number;
}

export const ADDRESS_BYTES = 20;

/**
 * Maximum of the average bucket size in a run. The number of buckets is a power of two, so the average is usually at
 * least half as large. Small buckets are quick to scan and waste little of a page.
 */
const BUCKET_BYTES = 1_200;
const MAX_BUCKET_BITS = 26;

/** Returns the number of hash bits that select a bucket, for a run whose entries have `bytes` bytes in total. */
export const bucketBitsFor = (bytes: number): number =>
  Math.min(MAX_BUCKET_BITS, Math.max(0, Math.ceil(Math.log2(bytes / BUCKET_BYTES))));

export const bucketOf = (hash: number, bits: number): number => (bits === 0 ? 0 : hash >>> (32 - bits));

export const hashOf = (hash: HalfSipHash, bytes: Uint8Array, at = 0): number =>
  hash.of(bytes, at, ADDRESS_BYTES);

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

/**
 * Encodes the head record of a run: the number of hash bits that select a bucket, and the total bytes of its entries.
 */
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
/** Up to this size, copying bytes in a loop is faster than `TypedArray.set`. */
const FEW_BYTES = 64;

export class BucketWriter {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #length = 0;

  /** Starts the entry of the address at `at` in `bytes`. Exactly `partBytes` bytes of parts must follow. */
  entry(bytes: Uint8Array, at: number, partBytes: number): void {
    this.#ensureCapacity(ADDRESS_BYTES + MAX_VARINT_BYTES + partBytes);
    this.parts(bytes, at, at + ADDRESS_BYTES);
    this.#length = writeVarint(this.#bytes, this.#length, partBytes);
  }

  /** Appends a whole encoded entry, which is at `start` to `end` in `bytes`. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    this.#ensureCapacity(end - start);
    this.parts(bytes, start, end);
  }

  /** Appends the bytes from `start` to `end` to the parts of the current entry. */
  parts(bytes: Uint8Array, start: number, end: number): void {
    const target = this.#bytes;
    let length = this.#length;
    if (end - start > FEW_BYTES) {
      target.set(bytes.subarray(start, end), length);
      length += end - start;
    } else for (let at = start; at < end; at++) target[length++] = bytes[at] ?? 0;
    this.#length = length;
  }

  get length(): number {
    return this.#length;
  }

  /** Returns the bytes written since the last call of `take`. */
  take(): Buffer {
    const bucket = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return bucket;
  }

  #ensureCapacity(bytes: number): void {
    while (this.#length + bytes > this.#bytes.length) this.#bytes = doubled(this.#bytes);
  }
}

export class EntryReader {
  readonly bytes: Uint8Array;
  /** Offsets of the current entry in `bytes`: the start of its address, the start of its parts, and its end. */
  at = 0;
  partsAt = 0;
  end = 0;

  constructor(bucket: Uint8Array) {
    this.bytes = bucket;
  }

  /** Moves to the next entry. Returns false at the end. */
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

  /** Whether the current entry belongs to the address at `at` in `bytes`. */
  hasAddress(bytes: Uint8Array, at = 0): boolean {
    for (let i = 0; i < ADDRESS_BYTES; i++) if (this.bytes[this.at + i] !== bytes[at + i]) return false;
    return true;
  }
}

/** Returns the parts of an address from a bucket, or undefined if the bucket does not contain the address. */
export function findParts(bucket: Uint8Array, address: Uint8Array): Uint8Array | undefined {
  const entry = new EntryReader(bucket);
  while (entry.next()) if (entry.hasAddress(address)) return bucket.subarray(entry.partsAt, entry.end);
  return undefined;
}
