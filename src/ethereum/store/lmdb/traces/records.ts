import {
  BLOCKS_PER_SEGMENT,
  type ChainIdentity,
  type Hash,
  type StoredBlock,
  TRACE_FAILURES,
  type TraceCounts,
} from '../../../traces/index.ts';
import { uint32Key } from './keys.ts';

/** Encoding of the small records in the LMDB environment of the traces. */

const HASH_BYTES = 32;
const BLOCK_RECORD_BYTES = 2 * HASH_BYTES + 8 + 4;
/** Size of the record of an unavailable block. Its last byte is the index of the reason in TRACE_FAILURES. */
const UNAVAILABLE_RECORD_BYTES = BLOCK_RECORD_BYTES + 1;

export function encodeBlock(block: StoredBlock): Buffer {
  const { unavailable } = block;
  const record = Buffer.allocUnsafe(
    unavailable === undefined ? BLOCK_RECORD_BYTES : UNAVAILABLE_RECORD_BYTES,
  );
  if (unavailable !== undefined) record[BLOCK_RECORD_BYTES] = TRACE_FAILURES.indexOf(unavailable);
  record.write(block.hash.slice(2), 0, 'hex');
  record.write(block.parentHash.slice(2), HASH_BYTES, 'hex');
  record.writeDoubleBE(block.timestamp, 2 * HASH_BYTES);
  record.writeUInt32BE(block.traceCount, 2 * HASH_BYTES + 8);
  return record;
}

export function decodeBlock(number: number, record: Buffer): StoredBlock {
  const unavailable =
    record.length === UNAVAILABLE_RECORD_BYTES ? TRACE_FAILURES[record[BLOCK_RECORD_BYTES] ?? 0] : undefined;
  return {
    number,
    hash: hashAt(record, 0),
    parentHash: hashAt(record, HASH_BYTES),
    timestamp: record.readDoubleBE(2 * HASH_BYTES),
    traceCount: record.readUInt32BE(2 * HASH_BYTES + 8),
    ...(unavailable !== undefined && { unavailable }),
  };
}

const NUMBER_BYTES = 4;

export function encodeNumbers(numbers: readonly number[]): Buffer {
  const record = Buffer.allocUnsafe(NUMBER_BYTES * numbers.length);
  numbers.forEach((number, i) => {
    record.writeUInt32BE(number, NUMBER_BYTES * i);
  });
  return record;
}

export const decodeNumbers = (record: Buffer | undefined): number[] =>
  Array.from({ length: (record?.length ?? 0) / NUMBER_BYTES }, (_, i) =>
    record === undefined ? 0 : record.readUInt32BE(NUMBER_BYTES * i),
  );

// The cast is safe: 32 bytes as lower-case hex digits are a hash.
const hashAt = (record: Buffer, offset: number): Hash =>
  `0x${record.toString('hex', offset, offset + HASH_BYTES)}` as Hash;

/** Version of the index state. Both numbers wrap around at 2^32. */
export interface StateVersion {
  readonly changes: number;
  /** Number of changes that removed or repaired blocks. Only they remove positions from posting lists. */
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
 * The blocks of a segment whose postings are not all in the posting lists on disk. Until a merge, the postings are in
 * memory.
 */
export class UnmergedBlocks {
  readonly segment: number;
  /** One bit per block of the segment, lowest bit first. */
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
 * State of a segment, as 32-bit numbers. For each block: the number of its traces plus one, or 0 if the block is
 * missing or unavailable. The last number is the number of the dictionary with which the segment's chunks are
 * compressed.
 */
export class Segment implements TraceCounts {
  readonly #words: Uint32Array;
  #before: Float64Array | undefined;
  /** For each block offset, the lowest offset at or after it whose block is missing or unavailable. */
  #missing: Uint16Array | undefined;
  /** For each number of blocks, how many of the first blocks of the segment have traces. */
  #present: Uint16Array | undefined;

  constructor(record?: Uint8Array) {
    this.#words = new Uint32Array(BLOCKS_PER_SEGMENT + 1);
    if (record !== undefined) new Uint8Array(this.#words.buffer).set(record);
  }

  /** Number of the compression dictionary of the segment's chunks. Valid if the segment has a block. */
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

  /** Returns the highest offset whose block is neither missing nor unavailable, or -1 if there is none. */
  last(): number {
    let offset = BLOCKS_PER_SEGMENT - 1;
    while (offset >= 0 && this.#words[offset] === 0) offset--;
    return offset;
  }

  /**
   * Returns the lowest offset, from `offset` on, whose block is missing or unavailable; BLOCKS_PER_SEGMENT if there
   * is none.
   */
  firstMissing(offset: number): number {
    this.#missing ??= this.#findMissing();
    return this.#missing[offset] ?? BLOCKS_PER_SEGMENT;
  }

  set(offset: number, traceCount: number | undefined): void {
    this.#words[offset] = traceCount === undefined ? 0 : traceCount + 1;
    this.#before = undefined;
    this.#missing = undefined;
    this.#present = undefined;
  }

  /** Returns how many of the first `end` blocks of the segment are neither missing nor unavailable. */
  present(end: number): number {
    this.#present ??= this.#countPresent();
    return this.#present[end] ?? 0;
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

  #countPresent(): Uint16Array {
    const present = new Uint16Array(BLOCKS_PER_SEGMENT + 1);
    for (let i = 0; i < BLOCKS_PER_SEGMENT; i++)
      present[i + 1] = (present[i] ?? 0) + (this.#words[i] === 0 ? 0 : 1);
    return present;
  }

  #sums(): Float64Array {
    const sums = new Float64Array(BLOCKS_PER_SEGMENT + 1);
    for (let i = 0; i < BLOCKS_PER_SEGMENT; i++)
      sums[i + 1] = (sums[i] ?? 0) + Math.max(0, (this.#words[i] ?? 0) - 1);
    return sums;
  }
}
