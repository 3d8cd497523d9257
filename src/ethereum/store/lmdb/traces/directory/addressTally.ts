import { doubled, KeyTable, positionOf, typeAt, visitTerms } from '../../../../traces/index.ts';
import type { HalfSipHash } from './halfSipHash.ts';
import { COLUMNS, columnOf, keptPosition, MAX_KEPT_POSITIONS, MAX_PART_BYTES, writeVarint } from './parts.ts';
import { ADDRESS_BYTES, BucketWriter, bucketBitsFor, bucketOf, hashOf } from './run.ts';
import type { RunContent } from './runWriter.ts';

const INITIAL_ADDRESSES = 1024;

/** Bytes of an entry besides counts and positions: an address, a length, a segment, columns. */
const ENTRY_BYTES = 24;
/** Most counts take one byte. */
const COUNT_BYTES = 1;
/** Most positions that are kept take three. */
const POSITION_BYTES = 3;

/** How often each address is on which side of which type of trace in a segment, and where, worked out from its chunks. */
export class AddressTally {
  readonly #hash: HalfSipHash;
  readonly #addresses = new KeyTable(ADDRESS_BYTES);
  /** By address. */
  #hashes = new Uint32Array(INITIAL_ADDRESSES);
  /** By address and column. */
  #counts = new Uint32Array(INITIAL_ADDRESSES * COLUMNS);
  /** By address and side, how often it is there, */
  #sums = new Uint32Array(INITIAL_ADDRESSES * 2);
  /** and the first positions. */
  #kept = new Uint32Array(INITIAL_ADDRESSES * 2 * MAX_KEPT_POSITIONS);
  /** About as many bytes as all entries have. */
  #bytes = 0;
  /** An entry that is being put together: its address, and behind that its part. */
  readonly #entry = new Uint8Array(ADDRESS_BYTES + MAX_PART_BYTES);

  constructor(hash: HalfSipHash) {
    this.#hash = hash;
  }

  /** Adds a chunk, whose first trace is number `firstIndex` of its block. They come in order. */
  add(chunk: Uint8Array, blockNumber: number, firstIndex: number): void {
    let typed = -1;
    let type = 0;
    visitTerms(chunk, (side, at, index) => {
      if (side === 'transaction') return;
      if (index !== typed) type = typeAt(chunk, index);
      typed = index;
      const address = this.#addressOf(chunk, at);
      const column = address * COLUMNS + columnOf(side, type);
      const count = this.#counts[column] ?? 0;
      this.#counts[column] = count + 1;
      if (count === 0) this.#bytes += COUNT_BYTES;
      const sum = 2 * address + (side === 'from' ? 0 : 1);
      const before = this.#sums[sum] ?? 0;
      this.#sums[sum] = before + 1;
      if (before < MAX_KEPT_POSITIONS) {
        this.#kept[sum * MAX_KEPT_POSITIONS + before] = positionOf(blockNumber, firstIndex + index);
        this.#bytes += POSITION_BYTES;
      } else if (before === MAX_KEPT_POSITIONS) this.#bytes -= MAX_KEPT_POSITIONS * POSITION_BYTES;
    });
  }

  /** What was added, as the run of this segment has it. */
  run(segment: number): RunContent {
    const bits = bucketBitsFor(this.#bytes);
    const { order, ends } = this.#byBucket(bits);
    const buckets = new BucketWriter();
    return {
      bits,
      bucket: (number) => {
        const end = ends[number] ?? 0;
        for (let i = number === 0 ? 0 : (ends[number - 1] ?? 0); i < end; i++)
          this.#writeEntry(buckets, order[i] ?? 0, segment);
        return buckets.take();
      },
    };
  }

  /** The numbers of addresses, those of one bucket together, and where each bucket ends among them. */
  #byBucket(bits: number): { order: Uint32Array; ends: Uint32Array } {
    const { length } = this.#addresses;
    const starts = new Uint32Array(2 ** bits + 1);
    for (let address = 0; address < length; address++) {
      const next = bucketOf(this.#hashes[address] ?? 0, bits) + 1;
      starts[next] = (starts[next] ?? 0) + 1;
    }
    for (let bucket = 1; bucket < starts.length; bucket++)
      starts[bucket] = (starts[bucket] ?? 0) + (starts[bucket - 1] ?? 0);
    const order = new Uint32Array(length);
    for (let address = 0; address < length; address++) {
      const bucket = bucketOf(this.#hashes[address] ?? 0, bits);
      const at = starts[bucket] ?? 0;
      order[at] = address;
      starts[bucket] = at + 1;
    }
    // Each has moved on to the end of its bucket.
    return { order, ends: starts };
  }

  /** The number of the address at `at` of a chunk. */
  #addressOf(chunk: Uint8Array, at: number): number {
    const known = this.#addresses.length;
    const address = this.#addresses.findOrAdd(chunk, at);
    if (address < known) return address;
    if (address === this.#hashes.length) this.#grow();
    this.#hashes[address] = hashOf(this.#hash, chunk, at);
    this.#bytes += ENTRY_BYTES;
    return address;
  }

  #writeEntry(buckets: BucketWriter, address: number, segment: number): void {
    const entry = this.#entry;
    for (let i = 0; i < ADDRESS_BYTES; i++) entry[i] = this.#addresses.byteOf(address, i);
    const columnsAt = writeVarint(entry, ADDRESS_BYTES, segment);
    let at = columnsAt + 1;
    let columns = 0;
    for (let column = 0; column < COLUMNS; column++) {
      const count = this.#counts[address * COLUMNS + column] ?? 0;
      if (count === 0) continue;
      columns |= 1 << column;
      at = writeVarint(entry, at, count);
    }
    entry[columnsAt] = columns;
    for (let sum = 2 * address; sum < 2 * address + 2; sum++) {
      const count = this.#sums[sum] ?? 0;
      if (count > MAX_KEPT_POSITIONS) continue;
      for (let i = 0; i < count; i++)
        at = writeVarint(entry, at, keptPosition(this.#kept[sum * MAX_KEPT_POSITIONS + i] ?? 0));
    }
    buckets.entry(entry, 0, at - ADDRESS_BYTES);
    buckets.parts(entry, ADDRESS_BYTES, at);
  }

  #grow(): void {
    this.#hashes = doubled(this.#hashes);
    this.#counts = doubled(this.#counts);
    this.#sums = doubled(this.#sums);
    this.#kept = doubled(this.#kept);
  }
}
