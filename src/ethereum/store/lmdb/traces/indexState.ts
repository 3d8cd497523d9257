import type { Database } from 'lmdb';
import {
  BLOCKS_PER_SEGMENT,
  type ChainIdentity,
  chunkOf,
  END_OF_LIST_IDS,
  firstBlockOf,
  type IndexReader,
  PairLists,
  type PostingList,
  type PostingTerm,
  type Side,
  type StoredBlock,
  segmentOf,
  type TraceCounts,
  type WorkLeft,
} from '../../../traces/index.ts';
import { allTracesOf } from './allTraces.ts';
import { NO_ATTRIBUTES_KEY, SEGMENTS_KEY } from './directory/directoryKeys.ts';
import { statesOfSegments } from './directory/prepareDirectory.ts';
import { SegmentStates } from './directory/segmentStates.ts';
import { NEWEST_DICTIONARY_KEY, STATE_KEY, type TraceEnvironment, UNMERGED_KEY } from './environment.ts';
import { chunkKey, postingKey, SIDES, uint32Key } from './keys.ts';
import { openPostingList } from './openPostingList.ts';
import { RecentSegments } from './recentSegments.ts';
import {
  decodeBlock,
  decodeChain,
  decodeUnmerged,
  NO_VERSION,
  Segment,
  type StateVersion,
  type UnmergedBlocks,
} from './records.ts';

/** Positions of posting lists that are kept, 4 bytes each: then all are forgotten, and those in use are read again. */
const MAX_KEPT_POSITIONS = 4 * 1024 * 1024;

/** Positions of pairs of lists that are kept, 4 bytes each. */
const MAX_PAIR_POSITIONS = 2 * 1024 * 1024;

/** Lists that have an id at one time, at about 150 bytes each. */
const MAX_LIST_IDS = 50_000;

/** More ids than one operation gives out. */
const IDS_LEFT_AT_LEAST = 2 ** 20;

/** Segments that are kept decoded: 12 KB each. */
const MAX_DECODED_SEGMENTS = 64;

interface ChainEnds {
  readonly head: StoredBlock | undefined;
  readonly finalized: number | undefined;
}

/**
 * What the index holds now. lmdb reads one commit for the length of an event turn, so whatever is read between `refreshSnapshot`
 * and the end of the synchronous code behind it is of one state; `refreshSnapshot` notices that a commit came in between.
 */
export class IndexState implements IndexReader {
  readonly #environment: TraceEnvironment;
  readonly #segments = new Map<number, Segment>();
  /** Posting lists in recent use, by segment and side and then by term; undefined for one that does not exist. */
  readonly #lists = new Map<number, Map<PostingTerm, PostingList | undefined>>();
  #keptPositions = 0;
  /** Ids of lists by name: they outlive the lists that are kept, and none is given out twice in one epoch. */
  readonly #ids = new Map<string, number>();
  #lastId = 0;
  readonly #pairs = new PairLists(MAX_PAIR_POSITIONS, () => ++this.#lastId);
  readonly #recent = new RecentSegments(this);
  #isRecentLoaded = false;
  #version: StateVersion = NO_VERSION;
  #epoch = 0;
  #segmentStates: SegmentStates | undefined;
  /** The ends of the chain as they were read, until the version changes. */
  #ends: ChainEnds | undefined;
  /** Whether a commit may come at any time: then the version is looked up each time. */
  #mayChange = true;
  /** Where another process writes: what the version was looked up in. */
  #snapshot: number | undefined;
  /** The chunk that was read last, until anything else is. */
  #chunk: { readonly blockNumber: number; readonly chunk: number; readonly bytes: Buffer } | undefined;

  constructor(environment: TraceEnvironment) {
    this.#environment = environment;
  }

  /**
   * Changes when positions or ids of lists stop to mean what they meant: a block took another's place, a list changed in its
   * middle. What is kept by them must be forgotten then.
   */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Told by the only writer: while nothing is being written the version need not be looked up. Before the first call it is
   * looked up each time, as another process may write.
   */
  setWriting(isWriting: boolean): void {
    this.#mayChange = true;
    if (!isWriting) this.refreshSnapshot();
    this.#mayChange = isWriting;
  }

  /**
   * Posting lists of the newest blocks, which are not on disk. Worked out once they are first asked for, in the operation that does, and
   * then with each change: a start need not wait for them.
   */
  get recent(): RecentSegments {
    if (!this.#isRecentLoaded) this.#recent.follow(this.unmerged(), true);
    this.#isRecentLoaded = true;
    return this.#recent;
  }

  /** To be called before each operation. What was decoded of an older state is forgotten. */
  refreshSnapshot(): StateVersion {
    this.#chunk = undefined;
    if (!this.#mayChange) return this.#version;
    const { snapshot } = this.#environment;
    if (snapshot !== undefined && snapshot === this.#snapshot) return this.#version;
    this.#snapshot = snapshot;
    const record = this.read(this.#environment.meta, STATE_KEY);
    const version = {
      changes: record?.readUInt32BE(0) ?? 0,
      rewrites: record?.readUInt32BE(4) ?? 0,
    };
    if (version.changes !== this.#version.changes) {
      this.#segments.clear();
      this.#forgetLists();
      this.#ends = undefined;
      this.#segmentStates = undefined;
      if (this.#isRecentLoaded)
        this.#recent.follow(this.unmerged(), version.rewrites !== this.#version.rewrites);
    }
    if (version.rewrites !== this.#version.rewrites || this.#lastId > END_OF_LIST_IDS - IDS_LEFT_AT_LEAST)
      this.#beginEpoch();
    this.#version = version;
    return version;
  }

  #beginEpoch(): void {
    this.#epoch++;
    this.#forgetLists();
    this.#pairs.clear();
    this.#ids.clear();
    this.#lastId = 0;
  }

  /** A record as bytes that the next read may overwrite. */
  read(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined {
    this.#chunk = undefined;
    const bytes = database.getBinaryFast(key);
    return bytes?.subarray(0, bytes.length);
  }

  chain(): ChainIdentity | undefined {
    const record = this.read(this.#environment.meta, Buffer.from('chain'));
    return record && decodeChain(record);
  }

  head(): StoredBlock | undefined {
    return this.#chainEnds().head;
  }

  finalizedNumber(): number | undefined {
    return this.#chainEnds().finalized;
  }

  #chainEnds(): ChainEnds {
    if (this.#ends === undefined) {
      const head = this.#metaNumber('head');
      this.#ends = {
        head: head === undefined ? undefined : this.block(head),
        finalized: this.#metaNumber('finalized'),
      };
    }
    return this.#ends;
  }

  /** The newest dictionary and the segment that it was made for. */
  dictionary(): { number: number; madeForSegment: number } | undefined {
    const record = this.read(this.#environment.meta, NEWEST_DICTIONARY_KEY);
    return record && { number: record.readUInt32BE(0), madeForSegment: record.readUInt32BE(4) };
  }

  /** Which segments have blocks, and how their addresses are found. To be changed only in a copy. */
  segmentStates(): SegmentStates {
    if (this.#segmentStates === undefined) {
      const record = this.read(this.#environment.meta, SEGMENTS_KEY);
      this.#segmentStates =
        record === undefined ? statesOfSegments(this.#environment.segments) : new SegmentStates(record);
    }
    return this.#segmentStates;
  }

  /** The first block that may lack the attributes of its traces; undefined where none does. */
  blocksWithoutAttributes(): number | undefined {
    return this.read(this.#environment.meta, NO_ATTRIBUTES_KEY)?.readUInt32BE(0);
  }

  /** The blocks that are not in the posting lists on disk. */
  unmerged(): UnmergedBlocks[] {
    return decodeUnmerged(this.read(this.#environment.meta, UNMERGED_KEY));
  }

  block(blockNumber: number): StoredBlock | undefined {
    const record = this.read(this.#environment.blocks, uint32Key(blockNumber));
    return record && decodeBlock(blockNumber, record);
  }

  /** The highest block up to a number. */
  lastBlock(upTo: number): StoredBlock | undefined {
    for (const block of this.blocksDown(upTo, 0)) return block;
    return undefined;
  }

  /** The blocks of a range that there are, from the highest down. */
  *blocksDown(from: number, to: number): Generator<StoredBlock> {
    if (from < to) return;
    const range = { start: uint32Key(from), end: uint32Key(to), reverse: true, inclusiveEnd: true };
    for (const { key, value } of this.#environment.blocks.getRange(range))
      yield decodeBlock(key.readUInt32BE(0), value);
  }

  hasBlock(blockNumber: number): boolean {
    return this.segment(segmentOf(blockNumber)).has(blockNumber % BLOCKS_PER_SEGMENT);
  }

  /** The lowest block of a range that is not there. */
  firstMissing(fromBlock: number, toBlock: number): number | undefined {
    for (let segment = segmentOf(fromBlock); segment <= segmentOf(toBlock); segment++) {
      const first = firstBlockOf(segment);
      const missing = first + this.segment(segment).firstMissing(Math.max(0, fromBlock - first));
      if (missing <= toBlock && missing < first + BLOCKS_PER_SEGMENT) return missing;
    }
    return undefined;
  }

  /** The chunk that holds trace `traceIndex` of a block, as bytes that the next read may overwrite. */
  chunk(blockNumber: number, traceIndex: number): Buffer {
    const chunk = chunkOf(traceIndex);
    const last = this.#chunk;
    if (last !== undefined && last.blockNumber === blockNumber && last.chunk === chunk) return last.bytes;
    const { dictionary } = this.segment(segmentOf(blockNumber));
    const bytes = this.read(this.#environment.chunks(dictionary), chunkKey(blockNumber, chunk));
    if (bytes === undefined)
      throw new Error(`the index is damaged: trace ${traceIndex} of block ${blockNumber} is missing`);
    this.#chunk = { blockNumber, chunk, bytes };
    return bytes;
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
    const family = segment * SIDES.length + SIDES.indexOf(side);
    let lists = this.#lists.get(family);
    const kept = lists?.get(term);
    if (kept !== undefined || lists?.has(term)) return kept;
    const list = this.#openList(segment, side, term);
    // A list's entry in the map weighs as much as a few dozen positions.
    this.#keptPositions += (list?.length ?? 0) + 64;
    if (this.#keptPositions > MAX_KEPT_POSITIONS) this.#forgetLists();
    lists = this.#lists.get(family) ?? new Map();
    this.#lists.set(family, lists);
    lists.set(term, list);
    return list;
  }

  /** All traces of a segment as a list. */
  allTraces(segment: number): PostingList | undefined {
    return allTracesOf(segment, {
      counts: this.segment(segment),
      newId: () => this.#idOf(`${segment}`),
    });
  }

  pair(from: PostingList, to: PostingList, work: WorkLeft): PostingList {
    return this.#pairs.of(from, to, work);
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

  #openList(segment: number, side: Side, term: PostingTerm): PostingList | undefined {
    return openPostingList(postingKey(segment, side, term), {
      read: (key) => this.read(this.#environment.postings, key),
      recent: this.recent.of(segment),
      newId: () => this.#idOf(`${segment} ${side} ${term}`),
    });
  }
}
