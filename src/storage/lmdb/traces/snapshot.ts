import type { Database, Transaction } from 'lmdb';
import {
  BLOCKS_PER_SEGMENT,
  type ChainIdentity,
  chunkOf,
  type IndexReader,
  PostingList,
  type PostingTerm,
  type Side,
  type StoredBlock,
  segmentOf,
} from '../../../traces/index.ts';
import type { TraceEnvironment } from './environment.ts';
import { chunkKey, postingKey, uint32Key, withPage } from './keys.ts';
import { lengthIn, positionsIn, wordsOf } from './postingPages.ts';
import { decodeBlock, decodeChain, SegmentCounts } from './records.ts';

/** lmdb's fast read takes the same options as its other reads; its type definition leaves them out. */
interface FastReads {
  getBinaryFast(key: Buffer, options: { transaction: Transaction }): Buffer | undefined;
}

/** Segments whose counts are kept decoded: 12 KB each. */
const MAX_COUNTED_SEGMENTS = 64;

/**
 * One unchanging state of the index: a read transaction, opened when the state was committed. The store replaces its
 * snapshot after every commit, so a query reads one state from beginning to end.
 */
export class Snapshot implements IndexReader {
  readonly #environment: TraceEnvironment;
  readonly #transaction: Transaction;
  readonly #countsBySegment = new Map<number, SegmentCounts>();

  constructor(environment: TraceEnvironment) {
    this.#environment = environment;
    environment.root.resetReadTxn();
    this.#transaction = environment.root.useReadTransaction();
  }

  close(): void {
    this.#transaction.done();
  }

  /** A record as bytes that the next read may overwrite. */
  read(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined {
    const bytes = (database as unknown as FastReads).getBinaryFast(key, { transaction: this.#transaction });
    return bytes?.subarray(0, bytes.length);
  }

  chain(): ChainIdentity | undefined {
    const record = this.read(this.#environment.meta, Buffer.from('chain'));
    return record && decodeChain(record);
  }

  head(): StoredBlock | undefined {
    const number = this.#metaNumber('head');
    return number === undefined ? undefined : this.block(number);
  }

  finalizedNumber(): number | undefined {
    return this.#metaNumber('finalized');
  }

  block(blockNumber: number): StoredBlock | undefined {
    const record = this.read(this.#environment.blocks, uint32Key(blockNumber));
    return record && decodeBlock(blockNumber, record);
  }

  hasBlock(blockNumber: number): boolean {
    return this.traceCounts(segmentOf(blockNumber)).has(blockNumber % BLOCKS_PER_SEGMENT);
  }

  /** The chunk that holds trace `place` of a block, as bytes that the next read may overwrite. */
  chunk(blockNumber: number, place: number): Buffer {
    const chunk = this.read(this.#environment.chunks, chunkKey(blockNumber, chunkOf(place)));
    if (chunk === undefined)
      throw new Error(`the index is damaged: trace ${place} of block ${blockNumber} is missing`);
    return chunk;
  }

  #metaNumber(name: string): number | undefined {
    return this.read(this.#environment.meta, Buffer.from(name))?.readUInt32BE(0);
  }

  traceCounts(segment: number): SegmentCounts {
    const known = this.#countsBySegment.get(segment);
    if (known !== undefined) return known;
    const counts = new SegmentCounts(this.read(this.#environment.counts, uint32Key(segment)));
    if (this.#countsBySegment.size >= MAX_COUNTED_SEGMENTS) this.#countsBySegment.clear();
    this.#countsBySegment.set(segment, counts);
    return counts;
  }

  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined {
    const key = postingKey(segment, side, term, 0);
    const bytes = this.read(this.#environment.postings, key);
    if (bytes === undefined) return undefined;
    const zero = wordsOf(bytes);
    return new PostingList(lengthIn(zero), positionsIn(0, zero), (pageNumber) => {
      if (pageNumber === 0) return positionsIn(0, zero);
      const page = this.read(this.#environment.postings, withPage(key, pageNumber));
      if (page === undefined) throw new Error(`posting list is damaged: page ${pageNumber} is missing`);
      return wordsOf(page);
    });
  }
}
