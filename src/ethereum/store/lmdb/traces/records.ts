import {
  BLOCKS_PER_SEGMENT,
  type ChainIdentity,
  type Hash,
  type StoredBlock,
  type TraceCounts,
} from '../../../traces/index.ts';
import { uint32Key } from './keys.ts';

/** How the small records of the traces' environment are laid out. */

const HASH_BYTES = 32;
const BLOCK_RECORD_BYTES = 2 * HASH_BYTES + 8 + 4;

export function encodeBlock(block: StoredBlock): Buffer {
  const record = Buffer.allocUnsafe(BLOCK_RECORD_BYTES);
  record.write(block.hash.slice(2), 0, 'hex');
  record.write(block.parentHash.slice(2), HASH_BYTES, 'hex');
  record.writeDoubleBE(block.timestamp, 2 * HASH_BYTES);
  record.writeUInt32BE(block.traceCount, 2 * HASH_BYTES + 8);
  return record;
}

export function decodeBlock(number: number, record: Buffer): StoredBlock {
  return {
    number,
    hash: hashAt(record, 0),
    parentHash: hashAt(record, HASH_BYTES),
    timestamp: record.readDoubleBE(2 * HASH_BYTES),
    traceCount: record.readUInt32BE(2 * HASH_BYTES + 8),
  };
}

// The cast holds: 32 bytes as lower-case digits are a hash.
const hashAt = (record: Buffer, offset: number): Hash =>
  `0x${record.toString('hex', offset, offset + HASH_BYTES)}` as Hash;

/** Tells one state of the index from another. Both numbers wrap around at 2^32. */
export interface StateVersion {
  /** Changes so far. */
  readonly changes: number;
  /** Changes so far that did more than to add blocks behind the last: lists did not only grow. */
  readonly rewrites: number;
}

export const NO_VERSION: StateVersion = { changes: 0, rewrites: 0 };

export function encodeVersion({ changes, rewrites }: StateVersion): Buffer {
  const record = Buffer.allocUnsafe(8);
  record.writeUInt32BE(changes >>> 0, 0);
  record.writeUInt32BE(rewrites >>> 0, 4);
  return record;
}

/**
 * The blocks of a segment that are not, or not all, in its posting lists yet. What finds their traces is worked out from
 * their chunks and kept in memory, until it is merged into the lists.
 */
export class UnmergedBlocks {
  readonly segment: number;
  /** A bit for each block of the segment, the lowest of the first byte for the first block. */
  readonly #bits: Uint8Array;

  constructor(segment: number, bits = new Uint8Array(BLOCKS_PER_SEGMENT / 8)) {
    this.segment = segment;
    this.#bits = bits;
  }

  has(offset: number): boolean {
    return ((this.#bits[offset >>> 3] ?? 0) & (1 << (offset & 7))) !== 0;
  }

  add(offset: number): void {
    this.#bits[offset >>> 3] = (this.#bits[offset >>> 3] ?? 0) | (1 << (offset & 7));
  }

  encode(): Buffer {
    return Buffer.concat([uint32Key(this.segment), this.#bits]);
  }
}

const UNMERGED_BYTES = 4 + BLOCKS_PER_SEGMENT / 8;

export const encodeUnmerged = (unmerged: Iterable<UnmergedBlocks>): Buffer =>
  Buffer.concat(Array.from(unmerged, (blocks) => blocks.encode()));

export function decodeUnmerged(record: Buffer | undefined): UnmergedBlocks[] {
  const unmerged = [];
  for (let at = 0; record !== undefined && at < record.length; at += UNMERGED_BYTES)
    unmerged.push(
      new UnmergedBlocks(
        record.readUInt32BE(at),
        Uint8Array.from(record.subarray(at + 4, at + UNMERGED_BYTES)),
      ),
    );
  return unmerged;
}

export function encodeChain(identity: ChainIdentity): Buffer {
  return Buffer.from(JSON.stringify(identity));
}

export function decodeChain(record: Buffer): ChainIdentity {
  return JSON.parse(record.toString()) as ChainIdentity; // only encodeChain writes it
}

/**
 * What is known of a segment's blocks as a whole: a 32-bit number for each, 0 for one that is not in the index, else its
 * count of traces and one; and behind them the number of the dictionary that the segment's chunks are compressed with.
 */
export class Segment implements TraceCounts {
  readonly #words: Uint32Array;
  #before: Float64Array | undefined;
  /** For each offset, the first one from there on whose block is not in the index. */
  #missing: Uint16Array | undefined;

  constructor(record?: Uint8Array) {
    this.#words = new Uint32Array(BLOCKS_PER_SEGMENT + 1);
    if (record !== undefined) new Uint8Array(this.#words.buffer).set(record);
  }

  /** The number of the dictionary, once the segment has a block. */
  get dictionary(): number {
    return this.#words[BLOCKS_PER_SEGMENT] ?? 0;
  }

  set dictionary(number: number) {
    this.#words[BLOCKS_PER_SEGMENT] = number;
  }

  get isEmpty(): boolean {
    return this.#words.subarray(0, BLOCKS_PER_SEGMENT).every((word) => word === 0);
  }

  has(offset: number): boolean {
    return this.#words[offset] !== 0;
  }

  /** The highest offset whose block is in the index; -1 where none is. */
  last(): number {
    let offset = BLOCKS_PER_SEGMENT - 1;
    while (offset >= 0 && this.#words[offset] === 0) offset--;
    return offset;
  }

  /** The lowest offset from `offset` on whose block is not in the index; BLOCKS_PER_SEGMENT where all are. */
  firstMissing(offset: number): number {
    this.#missing ??= this.#findMissing();
    return this.#missing[offset] ?? BLOCKS_PER_SEGMENT;
  }

  set(offset: number, traceCount: number | undefined): void {
    this.#words[offset] = traceCount === undefined ? 0 : traceCount + 1;
    this.#before = undefined;
    this.#missing = undefined;
  }

  before(offset: number): number {
    this.#before ??= this.#sums();
    return this.#before[offset] ?? 0;
  }

  encode(): Buffer {
    return Buffer.from(this.#words.buffer.slice(0));
  }

  #findMissing(): Uint16Array {
    const missing = new Uint16Array(BLOCKS_PER_SEGMENT);
    let next = BLOCKS_PER_SEGMENT;
    for (let offset = BLOCKS_PER_SEGMENT - 1; offset >= 0; offset--) {
      if (this.#words[offset] === 0) next = offset;
      missing[offset] = next;
    }
    return missing;
  }

  #sums(): Float64Array {
    const sums = new Float64Array(BLOCKS_PER_SEGMENT + 1);
    for (let i = 0; i < BLOCKS_PER_SEGMENT; i++)
      sums[i + 1] = (sums[i] ?? 0) + Math.max(0, (this.#words[i] ?? 0) - 1);
    return sums;
  }
}
