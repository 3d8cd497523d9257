import type { Database } from 'lmdb';
import {
  attributesOf,
  BLOCKS_PER_SEGMENT,
  firstBlockOf,
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  positionOf,
  type StoredBlock,
  segmentOf,
} from '../../../../traces/index.ts';
import { SEGMENTS_KEY } from '../directory/directoryKeys.ts';
import { SegmentStates } from '../directory/segmentStates.ts';
import { STATE_KEY, type TraceEnvironment, UNAVAILABLE_KEY, UNMERGED_KEY } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { chunkKey, chunksOf, uint32Key } from '../keys.ts';
import { OnDemandChanges, onDemandBytesOf } from '../onDemandRecords.ts';
import { postingKeysOf } from '../postings/storedPostings.ts';
import {
  encodeBlock,
  encodeNumbers,
  encodeUnmerged,
  encodeVersion,
  Segment,
  type StateVersion,
  UnmergedBlocks,
} from '../records.ts';
import { postingListChanger } from './postingListChanger.ts';
import { Writes } from './writes.ts';

export interface WriteBatchOptions {
  readonly change: IndexChange;
  /** Number of the compression dictionary for segments that have no block yet. */
  readonly dictionary: number;
}

export interface WriteBatchDependencies {
  readonly environment: TraceEnvironment;
  readonly state: IndexState;
}

/** Computes all database records of an index change. Only `write` writes them, so an invalid change has no effect. */
export class WriteBatch {
  readonly #environment: TraceEnvironment;
  readonly #state: IndexState;
  readonly #writes = new Writes();
  readonly #blocks = new Map<number, StoredBlock>();
  readonly #segments = new Map<number, Segment>();
  /** Blocks whose postings are not all in the posting lists on disk, by segment. */
  readonly #unmerged: Map<number, UnmergedBlocks>;
  readonly #unavailable: Set<number>;
  readonly #onDemand: OnDemandChanges;
  readonly #isOnDemand: boolean;
  readonly #undoFrom: number;
  readonly #dictionary: number;
  #head: number | undefined;
  #lastAdded = -1;
  /** Whether the change removes blocks. */
  readonly #isRewritten: boolean;

  constructor({ change, dictionary }: WriteBatchOptions, dependencies: WriteBatchDependencies) {
    const { environment, state } = dependencies;
    this.#environment = environment;
    this.#dictionary = dictionary;
    this.#state = state;
    this.#undoFrom = change.undoFrom ?? Infinity;
    this.#head = state.head()?.number;
    this.#isRewritten = change.undoFrom !== undefined;
    const finalized = state.finalizedNumber();
    const undoesFinal = finalized !== undefined && this.#undoFrom <= finalized;
    if (undoesFinal && !change.undoFinal)
      throw new IndexConflictError(
        `block ${this.#undoFrom} cannot be undone: blocks up to ${finalized} are final`,
      );

    this.#unmerged = new Map(state.unmerged().map((blocks) => [blocks.segment, blocks]));

    this.#unavailable = new Set(state.unavailableNumbers());

    this.#onDemand = new OnDemandChanges({ environment, state }, this.#writes);
    this.#isOnDemand = change.onDemand ?? false;

    this.#undo();
    for (const block of change.blocks) this.#add(block);
    this.#putSegments();
    this.#putUnavailable();
    this.#onDemand.finish();
    this.#putMeta('head', this.#head);
    const finalAfter = undoesFinal && this.#undoFrom > 0 ? this.#undoFrom - 1 : undefined;
    if (undoesFinal) this.#putMeta('finalized', finalAfter);
    if (
      change.finalizedNumber !== undefined &&
      change.finalizedNumber > ((undoesFinal ? finalAfter : finalized) ?? -1)
    )
      this.#putMeta('finalized', change.finalizedNumber);
    this.#writes.put(environment.meta, STATE_KEY, encodeVersion(this.#versionAfter()));
    this.#putUnmerged();
  }

  get changedSegments(): Iterable<number> {
    return this.#segments.keys();
  }

  /** Writes all records. Must be called within one transaction of the environment. */
  write(): void {
    this.#writes.execute();
  }

  #undo(): void {
    const head = this.#head;
    if (head === undefined || this.#undoFrom > head) return;
    const blocks = [...this.#state.blocksDown(head, this.#undoFrom)];
    this.#removePostings(blocks.filter((block) => block.unavailable === undefined));
    for (const block of blocks) this.#remove(block);
    this.#head = this.#state.lastBlock(this.#undoFrom - 1)?.number;
  }

  #remove(block: StoredBlock): void {
    this.#onDemand.delete(block.number);
    if (block.unavailable !== undefined) {
      this.#unavailable.delete(block.number);
      this.#writes.delete(this.#environment.blocks, uint32Key(block.number));
      return;
    }
    const segment = this.#segmentOf(segmentOf(block.number));
    const chunks = this.#environment.chunks(segment.dictionary);
    segment.set(block.number % BLOCKS_PER_SEGMENT, undefined);
    this.#writes.delete(this.#environment.blocks, uint32Key(block.number));
    this.#writes.delete(this.#environment.attributes, uint32Key(block.number));
    for (const key of chunks.getKeys(chunksOf(block.number))) this.#writes.delete(chunks, Buffer.from(key));
  }

  #add(indexed: IndexedBlock): void {
    const { block, chunks } = indexed;
    const held = this.#blockAt(block.number);
    const isSame = held?.hash === block.hash;
    if (isSame && (held.unavailable === undefined || block.unavailable !== undefined)) return;
    this.#checkNeighbours(block);
    // A block that was unavailable remains on demand when it gets its traces.
    if (this.#isOnDemand || this.#onDemand.get(block.number) !== undefined)
      this.#onDemand.put(block.number, onDemandBytesOf(indexed));
    this.#blocks.set(block.number, block);
    this.#writes.put(this.#environment.blocks, uint32Key(block.number), encodeBlock(block));
    if (block.unavailable !== undefined) {
      this.#unavailable.add(block.number);
      this.#head = Math.max(this.#head ?? 0, block.number);
      return;
    }
    this.#unavailable.delete(block.number);
    const segment = this.#segmentOf(segmentOf(block.number));
    if (segment.isEmpty) segment.dictionary = this.#dictionary;
    segment.set(block.number % BLOCKS_PER_SEGMENT, block.traceCount);
    this.#addChunks(this.#environment.chunks(segment.dictionary), block.number, chunks);
    this.#addAttributes(block, chunks);
    this.#leaveUnmerged(block.number);
    this.#head = Math.max(this.#head ?? 0, block.number);
  }

  #addChunks(database: Database<Buffer, Buffer>, blockNumber: number, chunks: readonly Uint8Array[]): void {
    const isLast = blockNumber > (this.#head ?? -1);
    chunks.forEach((bytes, i) => {
      const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (isLast) this.#writes.append(database, chunkKey(blockNumber, i), value);
      else this.#writes.put(database, chunkKey(blockNumber, i), value);
    });
  }

  #addAttributes({ number, traceCount }: StoredBlock, chunks: readonly Uint8Array[]): void {
    const { attributes } = this.#environment;
    const words = attributesOf(chunks, traceCount);
    const value = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
    if (number > (this.#head ?? -1)) this.#writes.append(attributes, uint32Key(number), value);
    else this.#writes.put(attributes, uint32Key(number), value);
  }

  #leaveUnmerged(blockNumber: number): void {
    const segment = segmentOf(blockNumber);
    const unmerged = this.#unmerged.get(segment) ?? new UnmergedBlocks(segment);
    unmerged.add(blockNumber % BLOCKS_PER_SEGMENT);
    this.#unmerged.set(segment, unmerged);
  }

  /** Checks that adjacent blocks are parent and child, so that the blocks of every range belong to one chain. */
  #checkNeighbours(block: StoredBlock): void {
    if (block.number <= this.#lastAdded)
      throw new IndexConflictError(
        `blocks of a change must be ascending: block ${block.number} follows block ${this.#lastAdded}`,
      );
    this.#lastAdded = block.number;
    const held = this.#blockAt(block.number);
    if (held !== undefined && held.hash !== block.hash)
      throw new IndexConflictError(`block ${block.number} is ${held.hash} in the index, not ${block.hash}`);
    const parent = this.#blockAt(block.number - 1);
    if (parent !== undefined && parent.hash !== block.parentHash)
      throw new IndexConflictError(
        `block ${block.number} has parent ${block.parentHash}, but block ${parent.number} of the index is ${parent.hash}`,
      );
    const child = this.#blockAt(block.number + 1);
    if (child !== undefined && child.parentHash !== block.hash)
      throw new IndexConflictError(
        `block ${child.number} of the index has parent ${child.parentHash}, which is not block ${block.number}, ${block.hash}`,
      );
  }

  #blockAt(number: number): StoredBlock | undefined {
    return (
      this.#blocks.get(number) ??
      (number < this.#undoFrom && number >= 0 ? this.#state.block(number) : undefined)
    );
  }

  /** Removes the positions of undone blocks, which are the last ones of each posting list. */
  #removePostings(blocks: readonly StoredBlock[]): void {
    const changeList = postingListChanger({
      environment: this.#environment,
      state: this.#state,
      writes: this.#writes,
    });
    for (const key of postingKeysOf(blocks, this.#state)) {
      const isWhole = this.#undoFrom <= firstBlockOf(key.readUInt32BE(0));
      changeList(key, { removeStart: isWhole ? 0 : positionOf(this.#undoFrom, 0), added: [] });
    }
  }

  #putSegments(): void {
    const states = new SegmentStates(this.#state.segmentStates().encode());
    let isNews = false;
    for (const [number, segment] of this.#segments) {
      this.#writes.put(this.#environment.segments, uint32Key(number), segment.encode());
      const isComplete = segment.firstMissing(0) === BLOCKS_PER_SEGMENT;
      if (states.recordChange(number, { hasBlocks: !segment.isEmpty, isComplete })) isNews = true;
    }
    if (isNews) this.#writes.put(this.#environment.meta, SEGMENTS_KEY, states.encode());
  }

  #segmentOf(number: number): Segment {
    let segment = this.#segments.get(number);
    if (segment === undefined) {
      segment = new Segment(this.#state.segment(number).encode());
      this.#segments.set(number, segment);
    }
    return segment;
  }

  #versionAfter(): StateVersion {
    const { changes, rewrites } = this.#state.refreshSnapshot();
    return { changes: changes + 1, rewrites: this.#isRewritten ? rewrites + 1 : rewrites };
  }

  #putUnmerged(): void {
    this.#writes.put(this.#environment.meta, UNMERGED_KEY, encodeUnmerged(this.#unmerged.values()));
  }

  #putUnavailable(): void {
    const before = this.#state.unavailableNumbers();
    const after = [...this.#unavailable].sort((a, b) => a - b);
    if (after.length === before.length && after.every((number, i) => number === before[i])) return;
    this.#writes.put(this.#environment.meta, UNAVAILABLE_KEY, encodeNumbers(after));
  }

  #putMeta(name: 'head' | 'finalized', value: number | undefined): void {
    const key = Buffer.from(name);
    if (value === undefined) this.#writes.delete(this.#environment.meta, key);
    else this.#writes.put(this.#environment.meta, key, uint32Key(value));
  }
}
