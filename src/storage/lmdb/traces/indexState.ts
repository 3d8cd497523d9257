import type { Database } from 'lmdb';
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
  type TraceCounts,
} from '../../../traces/index.ts';
import { NEWEST_DICTIONARY_KEY, STATE_KEY, type TraceEnvironment } from './environment.ts';
import { chunkKey, pageKey, postingKey, uint32Key } from './keys.ts';
import { lengthIn, positionsIn, wordsOf } from './postingPages.ts';
import { decodeBlock, decodeChain, NO_VERSION, Segment, type StateVersion } from './records.ts';

/** Positions of posting lists that are kept, 4 bytes each: then all are forgotten, and those in use are read again. */
const MAX_KEPT_POSITIONS = 4 * 1024 * 1024;

/** Lists that have an id at one time, at about 150 bytes each. */
const MAX_LIST_IDS = 50_000;

/** Segments that are kept decoded: 12 KB each. */
const MAX_DECODED_SEGMENTS = 64;

/**
 * What the index holds now. lmdb reads one commit for the length of an event turn, so whatever is read between `refresh`
 * and the end of the synchronous code behind it is of one state; `refresh` notices that a commit came in between.
 */
export class IndexState implements IndexReader {
  readonly #environment: TraceEnvironment;
  readonly #segments = new Map<number, Segment>();
  /** Posting lists in recent use, by segment, side and term; undefined for one that does not exist. */
  readonly #lists = new Map<string, PostingList | undefined>();
  #keptPositions = 0;
  /** Ids of lists by name: they outlive the lists that are kept, and none is given out twice. */
  readonly #ids = new Map<string, number>();
  #lastId = 0;
  #version: StateVersion = NO_VERSION;

  constructor(environment: TraceEnvironment) {
    this.#environment = environment;
  }

  /** To be called before each operation. What was decoded of an older state is forgotten. */
  refresh(): StateVersion {
    const record = this.read(this.#environment.meta, STATE_KEY);
    const changes = record?.readUInt32BE(0) ?? 0;
    if (changes !== this.#version.changes) {
      this.#segments.clear();
      this.#forgetLists();
      this.#version = { changes, rewrites: record?.readUInt32BE(4) ?? 0 };
    }
    return this.#version;
  }

  /** A record as bytes that the next read may overwrite. */
  read(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined {
    const bytes = database.getBinaryFast(key);
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

  /** The newest dictionary and the segment that it was made for. */
  dictionary(): { number: number; madeForSegment: number } | undefined {
    const record = this.read(this.#environment.meta, NEWEST_DICTIONARY_KEY);
    return record && { number: record.readUInt32BE(0), madeForSegment: record.readUInt32BE(4) };
  }

  block(blockNumber: number): StoredBlock | undefined {
    const record = this.read(this.#environment.blocks, uint32Key(blockNumber));
    return record && decodeBlock(blockNumber, record);
  }

  hasBlock(blockNumber: number): boolean {
    return this.segment(segmentOf(blockNumber)).has(blockNumber % BLOCKS_PER_SEGMENT);
  }

  /** The chunk that holds trace `place` of a block, as bytes that the next read may overwrite. */
  chunk(blockNumber: number, place: number): Buffer {
    const { dictionary } = this.segment(segmentOf(blockNumber));
    const chunk = this.read(this.#environment.chunks(dictionary), chunkKey(blockNumber, chunkOf(place)));
    if (chunk === undefined)
      throw new Error(`the index is damaged: trace ${place} of block ${blockNumber} is missing`);
    return chunk;
  }

  #metaNumber(name: string): number | undefined {
    return this.read(this.#environment.meta, Buffer.from(name))?.readUInt32BE(0);
  }

  traceCounts(segment: number): TraceCounts {
    return this.segment(segment);
  }

  segment(number: number): Segment {
    const known = this.#segments.get(number);
    if (known !== undefined) return known;
    const segment = new Segment(this.read(this.#environment.segments, uint32Key(number)));
    if (this.#segments.size >= MAX_DECODED_SEGMENTS) this.#segments.clear();
    this.#segments.set(number, segment);
    return segment;
  }

  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined {
    const name = `${segment} ${side} ${term}`;
    const kept = this.#lists.get(name);
    if (kept !== undefined || this.#lists.has(name)) return kept;
    const list = this.#openList(this.#idOf(name), segment, side, term);
    // A list's entry in the map weighs as much as a few dozen positions.
    this.#keptPositions += (list?.length ?? 0) + 64;
    if (this.#keptPositions > MAX_KEPT_POSITIONS) this.#forgetLists();
    this.#lists.set(name, list);
    return list;
  }

  #forgetLists(): void {
    this.#lists.clear();
    this.#keptPositions = 0;
  }

  #idOf(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    if (this.#ids.size >= MAX_LIST_IDS) this.#ids.clear();
    const id = ++this.#lastId;
    this.#ids.set(name, id);
    return id;
  }

  #openList(id: number, segment: number, side: Side, term: PostingTerm): PostingList | undefined {
    const key = postingKey(segment, side, term);
    const bytes = this.read(this.#environment.postings, key);
    if (bytes === undefined) return undefined;
    const zero = wordsOf(bytes);
    return new PostingList(id, lengthIn(zero), positionsIn(zero), (pageNumber) => {
      if (pageNumber === 0) return positionsIn(zero);
      const page = this.read(this.#environment.postings, pageKey(key, pageNumber));
      if (page === undefined) throw new Error(`posting list is damaged: page ${pageNumber} is missing`);
      return wordsOf(page);
    });
  }
}
