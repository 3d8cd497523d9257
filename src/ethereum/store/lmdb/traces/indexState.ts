import type { Database } from 'lmdb';
import {
  BLOCKS_PER_SEGMENT,
  type ChainIdentity,
  chunkOf,
  type DamagedPart,
  dataChunksOf,
  END_OF_LIST_IDS,
  firstBlockOf,
  type IndexReader,
  PairIntersections,
  type PostingList,
  type PostingTerm,
  refersToData,
  type Side,
  type StoredBlock,
  segmentOf,
  TRACES_PER_CHUNK,
  type TraceCounts,
  type UnavailableBlock,
  type WorkBudget,
} from '../../../traces/index.ts';
import { allTracesOf } from './allTraces.ts';
import { DamagedIndexError, partOfBlock, segmentPart } from './damagedIndexError.ts';
import { SEGMENTS_KEY } from './directory/directoryKeys.ts';
import { DirectoryReader } from './directory/directoryReader.ts';
import { bucketKey, type RunName, runKey } from './directory/run.ts';
import { SegmentStates } from './directory/segmentStates.ts';
import {
  NEWEST_DICTIONARY_KEY,
  STATE_KEY,
  type TraceEnvironment,
  UNAVAILABLE_KEY,
  UNMERGED_KEY,
} from './environment.ts';
import { chunkKey, postingKey, SIDES, uint32Key } from './keys.ts';
import { openPostingList } from './postings/openPostingList.ts';
import { RecentSegments } from './recentSegments.ts';
import {
  decodeBlock,
  decodeChain,
  decodeNumbers,
  decodeUnmerged,
  NO_VERSION,
  Segment,
  type StateVersion,
  type UnmergedBlocks,
} from './records.ts';
import { hasUnknownSingle } from './singles.ts';

/** Maximum number of positions in cached posting lists, at 4 bytes each. Above it, all cached lists are dropped. */
const MAX_KEPT_POSITIONS = 4 * 1024 * 1024;

/** Maximum number of positions in cached intersections of two posting lists, at 4 bytes each. */
const MAX_PAIR_POSITIONS = 2 * 1024 * 1024;

/** Maximum number of posting lists whose ids are remembered, at about 150 bytes each. */
const MAX_LIST_IDS = 50_000;

/**
 * A new epoch (`IndexState.epoch`) begins when fewer unused list ids than this are left. One operation needs fewer.
 */
const IDS_LEFT_AT_LEAST = 2 ** 20;

/** Maximum number of cached decoded segments, at 12 KB each. */
const MAX_DECODED_SEGMENTS = 64;

interface ReadChunk {
  readonly blockNumber: number;
  readonly chunk: number;
  readonly bytes: Buffer;
}

interface ChainEnds {
  readonly head: StoredBlock | undefined;
  readonly finalized: number | undefined;
}

/** The blocks of a segment at some time: how many of the blocks before offset `end` had traces. */
export interface SegmentBlocks {
  readonly segment: number;
  readonly end: number;
  readonly present: number;
}

interface ListIds {
  /** The blocks of the segment when an id was last used. */
  blocks: SegmentBlocks;
  /** Ids by the name of the list. */
  readonly ids: Map<string, number>;
}

/**
 * Current state of the index. All synchronous reads after `refreshSnapshot` see the same commit, because lmdb reads
 * from one commit during an event loop tick.
 */
export class IndexState implements IndexReader {
  readonly directory: DirectoryReader;
  readonly #environment: TraceEnvironment;
  readonly #segments = new Map<number, Segment>();
  /**
   * Cached posting lists, by segment and side (`from`, `to` or `transaction`), then by term. The value is undefined
   * if the list does not exist.
   */
  readonly #lists = new Map<number, Map<PostingTerm, PostingList | undefined>>();
  #keptPositions = 0;
  /**
   * Ids of posting lists, by segment. A list that leaves the cache can keep its id. Within an epoch, no other list gets
   * the same id. The lists of a segment get new ids after a block was added before its last one.
   */
  readonly #ids = new Map<number, ListIds>();
  #idCount = 0;
  #lastId = 0;
  readonly #pairs = new PairIntersections(MAX_PAIR_POSITIONS, () => ++this.#lastId);
  readonly #recent = new RecentSegments(this);
  #isRecentLoaded = false;
  #version: StateVersion = NO_VERSION;
  #epoch = 0;
  #segmentStates: SegmentStates | undefined;
  /** Cached head and number of the finalized block. Cleared when the version changes. */
  #ends: ChainEnds | undefined;
  /** Cached numbers of the unavailable blocks, ascending. Cleared when the version changes. */
  #unavailable: readonly number[] | undefined;
  /** Whether the index can change at any time. If so, each operation reads the version of the index again. */
  #mayChange = true;
  /** Number of the LMDB snapshot from which `#version` was read. Used only if another process writes the index. */
  #snapshot: number | undefined;
  /** The chunk that was read last. It is valid until the next read from the database. */
  #chunk: ReadChunk | undefined;
  /** The data chunk that this operation read last. Traces of a block often refer to the same data chunk. */
  #dataChunk: ReadChunk | undefined;

  constructor(environment: TraceEnvironment) {
    this.#environment = environment;
    this.directory = new DirectoryReader(environment, this);
  }

  /**
   * Increases when a block number or the id of a posting list may stand for other traces than before, because blocks
   * were removed. Caches whose keys contain these numbers must then be cleared.
   */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * Called by the only writing process when a write begins and when it ends. Between writes, the version of the index
   * is not read again. Before the first call, each operation reads the version, because another process may write.
   */
  setWriting(isWriting: boolean): void {
    this.#mayChange = true;
    if (!isWriting) this.refreshSnapshot();
    this.#mayChange = isWriting;
  }

  /**
   * Posting lists of recent blocks, whose postings are not on disk yet. Built by the first operation that needs them.
   */
  get recent(): RecentSegments {
    this.loadRecent();
    return this.#recent;
  }

  /** Loads the posting lists of recent blocks, unless they are loaded. Must be called after `refreshSnapshot`. */
  loadRecent(): void {
    if (!this.#isRecentLoaded) this.#recent.update(this.unmerged(), true);
    this.#isRecentLoaded = true;
  }

  /** Must be called before each operation. Returns the version of the index. If it has changed, clears the caches. */
  refreshSnapshot(): StateVersion {
    this.#chunk = undefined;
    this.#dataChunk = undefined;
    if (!this.#mayChange) return this.#version;
    const { snapshot } = this.#environment;
    if (snapshot !== undefined && snapshot === this.#snapshot) return this.#version;
    const version = this.#readVersion();
    if (version.changes !== this.#version.changes) {
      this.#segments.clear();
      this.#forgetLists();
      this.#ends = undefined;
      this.#unavailable = undefined;
      this.#segmentStates = undefined;
      if (this.#isRecentLoaded)
        this.#recent.update(this.unmerged(), version.rewrites !== this.#version.rewrites);
    }
    if (version.rewrites !== this.#version.rewrites || this.#lastId > END_OF_LIST_IDS - IDS_LEFT_AT_LEAST)
      this.#beginEpoch();
    // If the lists of recent blocks cannot be read, the next operation tries again.
    this.#snapshot = snapshot;
    this.#version = version;
    return version;
  }

  /** Number of changes of the index in the current snapshot, to which the state may not be refreshed yet. */
  get changes(): number {
    const { snapshot } = this.#environment;
    const isKnown = snapshot !== undefined && snapshot === this.#snapshot;
    return (isKnown ? this.#version : this.#readVersion()).changes;
  }

  #readVersion(): StateVersion {
    const record = this.read(this.#environment.meta, STATE_KEY);
    return { changes: record?.readUInt32BE(0) ?? 0, rewrites: record?.readUInt32BE(4) ?? 0 };
  }

  #beginEpoch(): void {
    this.#epoch++;
    this.#forgetLists();
    this.#pairs.clear();
    this.#ids.clear();
    this.#idCount = 0;
    this.#lastId = 0;
  }

  /** Returns the value of a record. The next read may overwrite its bytes. */
  read(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined {
    this.#chunk = undefined;
    return this.#environment.read(database, key);
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

  /** Returns the number of the newest compression dictionary, and of the segment for which it was made. */
  dictionary(): { number: number; madeForSegment: number } | undefined {
    const record = this.read(this.#environment.meta, NEWEST_DICTIONARY_KEY);
    return record && { number: record.readUInt32BE(0), madeForSegment: record.readUInt32BE(4) };
  }

  /** Returns the states of all segments. Callers must copy the states before they change them. */
  segmentStates(): SegmentStates {
    this.#segmentStates ??= new SegmentStates(this.#single(SEGMENTS_KEY));
    return this.#segmentStates;
  }

  unmerged(): UnmergedBlocks[] {
    return decodeUnmerged(this.#single(UNMERGED_KEY));
  }

  /** Returns a record of the database `meta`, without which results would lack traces; undefined in an empty index. */
  #single(key: Buffer): Buffer | undefined {
    const record = this.read(this.#environment.meta, key);
    if (record === undefined && hasUnknownSingle(this.#environment))
      throw this.lost(`record ${key} of meta is missing`, { kind: 'singles' });
    return record;
  }

  block(blockNumber: number): StoredBlock | undefined {
    const record = this.read(this.#environment.blocks, uint32Key(blockNumber));
    return record && decodeBlock(blockNumber, record);
  }

  /** Returns the block with the highest number that is not above `upTo`. */
  lastBlock(upTo: number): StoredBlock | undefined {
    for (const block of this.blocksDown(upTo, 0)) return block;
    return undefined;
  }

  /** Yields the blocks of the index from number `from` down to number `to`. */
  *blocksDown(from: number, to: number): Generator<StoredBlock> {
    if (from < to) return;
    const range = { start: uint32Key(from), end: uint32Key(to), reverse: true, inclusiveEnd: true };
    for (const { key, value } of this.#environment.range(this.#environment.blocks, range))
      yield decodeBlock(key.readUInt32BE(0), value);
  }

  hasBlock(blockNumber: number): boolean {
    return this.segment(segmentOf(blockNumber)).has(blockNumber % BLOCKS_PER_SEGMENT);
  }

  unavailableNumbers(): readonly number[] {
    this.#unavailable ??= decodeNumbers(this.read(this.#environment.meta, UNAVAILABLE_KEY));
    return this.#unavailable;
  }

  /** Returns the unavailable blocks of a range in ascending order, at most `max`. */
  unavailable(fromBlock: number, toBlock: number, max: number): UnavailableBlock[] {
    const found: UnavailableBlock[] = [];
    for (const number of this.unavailableNumbers()) {
      if (number > toBlock || found.length === max) break;
      const block = number >= fromBlock ? this.block(number) : undefined;
      if (block?.unavailable !== undefined) found.push({ ...block, unavailable: block.unavailable });
    }
    return found;
  }

  /** Returns the lowest block number of a range that is not in the index. Unavailable blocks are in the index. */
  firstMissing(fromBlock: number, toBlock: number): number | undefined {
    let first = this.firstWithoutTraces(fromBlock, toBlock);
    while (first !== undefined && this.unavailableNumbers().includes(first))
      first = this.firstWithoutTraces(first + 1, toBlock);
    return first;
  }

  /** Returns the lowest block number of a range whose block is missing or unavailable. */
  firstWithoutTraces(fromBlock: number, toBlock: number): number | undefined {
    if (fromBlock > toBlock) return undefined;
    for (let segment = segmentOf(fromBlock); segment <= segmentOf(toBlock); segment++) {
      const first = firstBlockOf(segment);
      const missing = first + this.segment(segment).firstMissing(Math.max(0, fromBlock - first));
      if (missing <= toBlock && missing < first + BLOCKS_PER_SEGMENT) return missing;
    }
    return undefined;
  }

  /**
   * Returns the chunk that contains a trace. The next read may overwrite it, unless the chunk refers to data chunks.
   */
  chunk(blockNumber: number, traceIndex: number): Buffer {
    const chunk = chunkOf(traceIndex);
    const last = this.#chunk;
    if (last !== undefined && last.blockNumber === blockNumber && last.chunk === chunk) return last.bytes;
    const { dictionary } = this.segment(segmentOf(blockNumber));
    const read = this.read(this.#environment.chunks(dictionary), chunkKey(blockNumber, chunk));
    if (read === undefined)
      throw this.lost(`trace ${traceIndex} of block ${blockNumber} is missing`, partOfBlock(blockNumber));
    const bytes = refersToData(read) ? Buffer.from(read) : read;
    this.#chunk = { blockNumber, chunk, bytes };
    return bytes;
  }

  dataChunk(blockNumber: number, chunk: number): Buffer {
    const last = this.#dataChunk;
    if (last !== undefined && last.blockNumber === blockNumber && last.chunk === chunk) return last.bytes;
    const referring = this.#chunk;
    const { dictionary } = this.segment(segmentOf(blockNumber));
    const read = this.read(this.#environment.chunks(dictionary), chunkKey(blockNumber, chunk));
    if (read === undefined)
      throw this.lost(`data chunk ${chunk} of block ${blockNumber} is missing`, partOfBlock(blockNumber));
    const bytes = Buffer.from(read);
    this.#dataChunk = { blockNumber, chunk, bytes };
    this.#chunk = referring;
    return bytes;
  }

  /** Returns copies of all chunks of a block. */
  chunksOf({ number, traceCount }: StoredBlock): Buffer[] {
    const chunks: Buffer[] = [];
    let last = -1;
    for (let index = 0; index < traceCount; index += TRACES_PER_CHUNK) {
      const chunk = Buffer.from(this.chunk(number, index));
      chunks.push(chunk);
      for (let i = 0; i < Math.min(TRACES_PER_CHUNK, traceCount - index); i++)
        last = Math.max(last, ...dataChunksOf(chunk, i));
    }
    while (chunks.length <= last) chunks.push(Buffer.from(this.dataChunk(number, chunks.length)));
    return chunks;
  }

  /** Returns the error for a missing record, and notes the damage of the part that contains it. */
  lost(what: string, part: DamagedPart): unknown {
    return this.#environment.noted(new DamagedIndexError(what, part));
  }

  /** Returns a record of a run of the directory: its head or a bucket. The next read may overwrite its bytes. */
  runRecord({ level, run }: RunName, bucket?: number): Buffer {
    const key = bucket === undefined ? runKey(run) : bucketKey(run, bucket);
    const record = this.read(this.#environment.directory(level), key);
    if (record !== undefined) return record;
    const what = bucket === undefined ? 'the head' : `bucket ${bucket}`;
    throw this.lost(`${what} of run ${run} of directory-${level} is missing`, { kind: 'run', level, run });
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
    const record = this.read(this.#environment.segments, uint32Key(number));
    if (record === undefined && this.segmentStates().hasBlocks(number))
      throw this.lost(`the trace counts of segment ${number} are missing`, segmentPart(number));
    const segment = new Segment(record);
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
    // The map entry of a list uses as much memory as a few dozen positions.
    this.#keptPositions += (list?.length ?? 0) + 64;
    if (this.#keptPositions > MAX_KEPT_POSITIONS) this.#forgetLists();
    lists = this.#lists.get(family) ?? new Map();
    this.#lists.set(family, lists);
    lists.set(term, list);
    return list;
  }

  allTraces(segment: number): PostingList | undefined {
    return allTracesOf(segment, {
      counts: this.segment(segment),
      newId: () => this.#idOf(segment, 'all'),
    });
  }

  blocksOf(segment: number): SegmentBlocks {
    const blocks = this.segment(segment);
    const end = blocks.last() + 1;
    return { segment, end, present: blocks.present(end) };
  }

  /** Returns whether all blocks that were added since then, in the same epoch, follow the last one of then. */
  isOnlyAppended({ segment, end, present }: SegmentBlocks): boolean {
    return this.segment(segment).present(end) === present;
  }

  pair(from: PostingList, to: PostingList, work: WorkBudget): PostingList {
    return this.#pairs.of(from, to, work);
  }

  #forgetLists(): void {
    this.#lists.clear();
    this.#keptPositions = 0;
  }

  #idOf(segment: number, name: string): number {
    const blocks = this.blocksOf(segment);
    let known = this.#ids.get(segment);
    if (known === undefined || !this.isOnlyAppended(known.blocks)) {
      this.#idCount -= known?.ids.size ?? 0;
      known = { blocks, ids: new Map() };
      this.#ids.set(segment, known);
    }
    known.blocks = blocks;
    const id = known.ids.get(name);
    if (id !== undefined) return id;
    if (this.#idCount >= MAX_LIST_IDS) {
      this.#ids.clear();
      this.#idCount = 0;
      return this.#idOf(segment, name);
    }
    this.#idCount++;
    known.ids.set(name, ++this.#lastId);
    return this.#lastId;
  }

  #openList(segment: number, side: Side, term: PostingTerm): PostingList | undefined {
    const list = openPostingList(postingKey(segment, side, term), {
      read: (key) => this.read(this.#environment.postings, key),
      recent: this.recent.of(segment),
      newId: () => this.#idOf(segment, `${side} ${term}`),
    });
    // The key of a list can be damaged. The directory has a second record of its address.
    if (list === undefined && side !== 'transaction' && this.directory.hasTraces(segment, side, term))
      throw this.lost(`the posting list of ${side} ${term} in segment ${segment} is missing`, {
        kind: 'segment',
        segment,
        isRebuilt: true,
      });
    return list;
  }
}
