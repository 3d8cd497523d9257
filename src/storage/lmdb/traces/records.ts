import {
  BLOCKS_PER_SEGMENT,
  type ChainIdentity,
  type Hash,
  type StoredBlock,
  type TraceCounts,
} from '../../../traces/index.ts';

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

export function encodeChain(identity: ChainIdentity): Buffer {
  return Buffer.from(JSON.stringify(identity));
}

export function decodeChain(record: Buffer): ChainIdentity {
  return JSON.parse(record.toString()) as ChainIdentity; // only encodeChain writes it
}

/**
 * The trace counts of a segment's blocks: a 32-bit number each, 0 for a block that is not in the index,
 * else its count of traces and one.
 */
export class SegmentCounts implements TraceCounts {
  readonly #counts: Uint32Array;
  #before: Float64Array | undefined;

  constructor(record?: Buffer) {
    this.#counts = new Uint32Array(BLOCKS_PER_SEGMENT);
    if (record !== undefined) new Uint8Array(this.#counts.buffer).set(record);
  }

  has(offset: number): boolean {
    return this.#counts[offset] !== 0;
  }

  count(offset: number): number {
    return Math.max(0, (this.#counts[offset] ?? 0) - 1);
  }

  set(offset: number, traceCount: number | undefined): void {
    this.#counts[offset] = traceCount === undefined ? 0 : traceCount + 1;
    this.#before = undefined;
  }

  before(offset: number): number {
    this.#before ??= this.#sums();
    return this.#before[offset] ?? 0;
  }

  encode(): Buffer {
    return Buffer.from(this.#counts.buffer.slice(0));
  }

  #sums(): Float64Array {
    const sums = new Float64Array(BLOCKS_PER_SEGMENT + 1);
    for (let i = 0; i < BLOCKS_PER_SEGMENT; i++) sums[i + 1] = (sums[i] ?? 0) + this.count(i);
    return sums;
  }
}
