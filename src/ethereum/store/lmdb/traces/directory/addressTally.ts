import { doubled } from '../../../../traces/index.ts';
import type { HalfSipHash } from './halfSipHash.ts';
import {
  COLUMNS,
  columnOf,
  encodePosition,
  MAX_INLINE_POSITIONS,
  MAX_PART_BYTES,
  type PartSide,
  writeVarint,
} from './parts.ts';
import { BucketWriter, bucketBitsFor, bucketOf, hashOf } from './run.ts';
import type { RunContent } from './runWriter.ts';

const INITIAL_ADDRESSES = 1024;
const PART_SIDES = ['from', 'to'] as const;

/**
 * Counts the traces of each address of a segment by side (`from` or `to`) and trace type, and collects their
 * positions. The addresses are added one after another.
 */
export class AddressTally {
  readonly #hash: HalfSipHash;
  readonly #segment: number;
  /**
   * State of the address that is being added: the number of its traces in each column (see parts.ts), and for each
   * side the number of traces and the positions of the first of them.
   */
  readonly #counts = new Uint32Array(COLUMNS);
  readonly #sums: Record<PartSide, number> = { from: 0, to: 0 };
  readonly #kept = { from: new Uint32Array(MAX_INLINE_POSITIONS), to: new Uint32Array(MAX_INLINE_POSITIONS) };
  readonly #part = new Uint8Array(MAX_PART_BYTES);
  /**
   * Encoded entries of the completed addresses. `#hashes[i]` is the hash of address i, `#ends[i]` the end of its
   * entry.
   */
  readonly #entries = new BucketWriter();
  #addresses = 0;
  #hashes = new Uint32Array(INITIAL_ADDRESSES);
  #ends = new Uint32Array(INITIAL_ADDRESSES);

  constructor(hash: HalfSipHash, segment: number) {
    this.#hash = hash;
    this.#segment = segment;
  }

  /**
   * Adds a trace of the current address. `type` is an index in TRACE_TYPES. Positions on a side must be ascending.
   */
  add(side: PartSide, type: number, position: number): void {
    const column = columnOf(side, type);
    this.#counts[column] = (this.#counts[column] ?? 0) + 1;
    const before = this.#sums[side]++;
    if (before < MAX_INLINE_POSITIONS) this.#kept[side][before] = position;
  }

  /** Writes the entry of the current address, whose 20 bytes start at `at` in `bytes`. */
  finishAddress(bytes: Uint8Array, at: number): void {
    const end = this.#writePart();
    this.#entries.entry(bytes, at, end);
    this.#entries.parts(this.#part, 0, end);
    if (this.#addresses === this.#hashes.length) {
      this.#hashes = doubled(this.#hashes);
      this.#ends = doubled(this.#ends);
    }
    this.#hashes[this.#addresses] = hashOf(this.#hash, bytes, at);
    this.#ends[this.#addresses++] = this.#entries.length;
  }

  run(): RunContent {
    const entries = this.#entries.take();
    const bits = bucketBitsFor(entries.length);
    const { order, ends } = this.#byBucket(bits);
    const bucket = new BucketWriter();
    return {
      bits,
      bucket: (number) => {
        const end = ends[number] ?? 0;
        for (let i = endBefore(ends, number); i < end; i++) {
          const address = order[i] ?? 0;
          bucket.copy(entries, endBefore(this.#ends, address), this.#ends[address] ?? 0);
        }
        return bucket.take();
      },
    };
  }

  /** Returns the numbers of the addresses, sorted by bucket, and for each bucket the index after its last address. */
  #byBucket(bits: number): { order: Uint32Array; ends: Uint32Array } {
    const starts = new Uint32Array(2 ** bits + 1);
    for (let address = 0; address < this.#addresses; address++) {
      const next = bucketOf(this.#hashes[address] ?? 0, bits) + 1;
      starts[next] = (starts[next] ?? 0) + 1;
    }
    for (let bucket = 1; bucket < starts.length; bucket++)
      starts[bucket] = (starts[bucket] ?? 0) + (starts[bucket - 1] ?? 0);
    const order = new Uint32Array(this.#addresses);
    for (let address = 0; address < this.#addresses; address++) {
      const bucket = bucketOf(this.#hashes[address] ?? 0, bits);
      const at = starts[bucket] ?? 0;
      order[at] = address;
      starts[bucket] = at + 1;
    }
    // The loop has moved each start to the end of its bucket.
    return { order, ends: starts };
  }

  /** Encodes the part (see parts.ts) of the current address into `#part`. Returns its length. */
  #writePart(): number {
    const part = this.#part;
    const columnsAt = writeVarint(part, 0, this.#segment);
    let at = columnsAt + 1;
    let columns = 0;
    for (let column = 0; column < COLUMNS; column++) {
      const count = this.#counts[column] ?? 0;
      if (count === 0) continue;
      columns |= 1 << column;
      at = writeVarint(part, at, count);
      this.#counts[column] = 0;
    }
    part[columnsAt] = columns;
    for (const side of PART_SIDES) {
      const count = this.#sums[side];
      this.#sums[side] = 0;
      if (count > MAX_INLINE_POSITIONS) continue;
      for (let i = 0; i < count; i++) at = writeVarint(part, at, encodePosition(this.#kept[side][i] ?? 0));
    }
    return at;
  }
}

/** Returns where item `number` starts, which is the end of the item before it. */
const endBefore = (ends: Uint32Array, number: number): number => (number === 0 ? 0 : (ends[number - 1] ?? 0));
