import type { Database } from 'lmdb';
import {
  BLOCKS_PER_SEGMENT,
  END_OF_SEGMENT,
  firstBlockOf,
  type IndexChange,
  IndexConflictError,
  type IndexedBlock,
  type Postings,
  type PostingTerm,
  partiesOf,
  positionOf,
  type Side,
  type StoredBlock,
  segmentOf,
  TRACES_PER_CHUNK,
  type Trace,
  termOf,
} from '../../../traces/index.ts';
import { STATE_KEY, type TraceEnvironment } from './environment.ts';
import type { IndexState } from './indexState.ts';
import { chunkKey, pageKey, postingKey, SIDES, uint32Key } from './keys.ts';
import { appendToPage, changePages } from './postingPages.ts';
import { encodeBlock, encodeVersion, Segment, type StateVersion } from './records.ts';

/** lmdb's put takes options in place of a version; its type definition knows them for putSync alone. */
interface WithPutOptions {
  put(key: Buffer, value: Buffer, options: { append: boolean }): Promise<boolean>;
}

const APPEND = { append: true };

/** A record to write, or to remove where it has no value. */
interface Write {
  readonly database: Database<Buffer, Buffer>;
  readonly key: Buffer;
  readonly value: Buffer | undefined;
  /** Whether it stands behind all others. */
  readonly append: boolean;
}

function carryOut({ database, key, value, append }: Write): Promise<unknown> {
  if (value === undefined) return database.remove(key);
  return append ? (database as WithPutOptions).put(key, value, APPEND) : database.put(key, value);
}

/** The lists of one segment that change: for each side and term, the positions to add. */
type SegmentPostings = Record<Side, Map<PostingTerm, number[]>>;

function addPostings(lists: Map<PostingTerm, number[]>, { terms, positions }: Postings): void {
  for (let i = 0; i < terms.length; i++) {
    const [term = '', position = 0] = [terms[i], positions[i]];
    const list = lists.get(term);
    if (list === undefined) lists.set(term, [position]);
    else list.push(position);
  }
}

/** Reads the traces of a block that is to be undone. */
export type ReadTraces = (block: StoredBlock) => readonly Trace[];

/** The version of the state that a change makes. */
function versionAfter({ undoFrom, blocks }: IndexChange, state: IndexState): StateVersion {
  const { changes, rewrites } = state.refresh();
  const head = state.head()?.number ?? -1;
  const onlyAdds = undoFrom === undefined && blocks.every(({ block }) => block.number > head);
  return { changes: changes + 1, rewrites: onlyAdds ? rewrites : rewrites + 1 };
}

/**
 * Works out, from the state before, every record that a change of the index writes. Nothing is written until
 * `write`, so a change that does not fit throws and leaves no mark.
 */
export class Changes {
  readonly #environment: TraceEnvironment;
  readonly #state: IndexState;
  readonly #writes: Write[] = [];
  readonly #blocks = new Map<number, StoredBlock>();
  readonly #segments = new Map<number, Segment>();
  readonly #postings = new Map<number, SegmentPostings>();
  readonly #undoFrom: number;
  readonly #dictionary: number;
  #head: number | undefined;
  #lastAdded = -1;

  /** `dictionary` is the number of the dictionary for segments that have no block yet. */
  constructor(
    environment: TraceEnvironment,
    state: IndexState,
    change: IndexChange,
    dictionary: number,
    readTraces: ReadTraces,
  ) {
    this.#environment = environment;
    this.#dictionary = dictionary;
    this.#state = state;
    this.#undoFrom = change.undoFrom ?? Infinity;
    this.#head = state.head()?.number;
    const finalized = state.finalizedNumber();
    if (finalized !== undefined && this.#undoFrom <= finalized)
      throw new IndexConflictError(
        `block ${this.#undoFrom} cannot be undone: blocks up to ${finalized} are final`,
      );

    this.#put(environment.meta, STATE_KEY, encodeVersion(versionAfter(change, state)));

    this.#undo(readTraces);
    for (const block of change.blocks) this.#add(block);
    this.#changePostings();
    this.#putSegments();
    this.#putMeta('head', this.#head);
    if (change.finalizedNumber !== undefined && change.finalizedNumber > (finalized ?? -1))
      this.#putMeta('finalized', change.finalizedNumber);
  }

  /** Writes everything; to be called within one atomic batch of the environment. */
  write(): void {
    let last: Promise<unknown> | undefined;
    for (const write of this.#writes) {
      const written = carryOut(write);
      // Whether the batch was committed is told to whoever began it; that these fail with it must not end the process.
      if (written !== last) written.catch(() => undefined);
      last = written;
    }
  }

  #undo(readTraces: ReadTraces): void {
    const head = this.#head;
    if (head === undefined) return;
    let highestLeft = head;
    for (let number = head; number >= this.#undoFrom; number--) {
      const block = this.#state.block(number);
      if (block !== undefined) this.#remove(block, readTraces(block));
    }
    while (this.#undoFrom <= highestLeft || !this.#state.hasBlock(highestLeft)) {
      highestLeft = Math.min(highestLeft, this.#undoFrom) - 1;
      if (highestLeft < 0) {
        this.#head = undefined;
        return;
      }
    }
    this.#head = highestLeft;
  }

  #remove(block: StoredBlock, traces: readonly Trace[]): void {
    const lists = this.#postingsOf(segmentOf(block.number));
    const touch = (side: Side, term: PostingTerm): void => {
      if (!lists[side].has(term)) lists[side].set(term, []);
    };
    for (const trace of traces) {
      const { from, to } = partiesOf(trace);
      if (from !== null) touch('from', termOf(from));
      if (to !== null) touch('to', termOf(to));
      if (trace.transactionHash !== null) touch('transaction', termOf(trace.transactionHash));
    }
    const segment = this.#segmentOf(segmentOf(block.number));
    const chunks = this.#environment.chunks(segment.dictionary);
    segment.set(block.number % BLOCKS_PER_SEGMENT, undefined);
    this.#delete(this.#environment.blocks, uint32Key(block.number));
    for (let chunk = 0; chunk * TRACES_PER_CHUNK < block.traceCount; chunk++)
      this.#delete(chunks, chunkKey(block.number, chunk));
  }

  #add({ block, chunks, postings }: IndexedBlock): void {
    if (this.#blockAt(block.number)?.hash === block.hash) return;
    this.#checkNeighbours(block);
    this.#blocks.set(block.number, block);
    this.#put(this.#environment.blocks, uint32Key(block.number), encodeBlock(block));
    const segment = this.#segmentOf(segmentOf(block.number));
    if (segment.isEmpty) segment.dictionary = this.#dictionary;
    segment.set(block.number % BLOCKS_PER_SEGMENT, block.traceCount);
    const database = this.#environment.chunks(segment.dictionary);
    // Behind the last key a page is filled to its end; elsewhere it is split in two halves: a tenth of the file.
    const append = block.number > (this.#head ?? -1);
    chunks.forEach((bytes, i) => {
      const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.#writes.push({ database, key: chunkKey(block.number, i), value, append });
    });
    const lists = this.#postingsOf(segmentOf(block.number));
    for (const side of SIDES) addPostings(lists[side], postings[side]);
    this.#head = Math.max(this.#head ?? 0, block.number);
  }

  /** Neighbouring blocks of the index are always parent and child: then any range of it is of one chain. */
  #checkNeighbours(block: StoredBlock): void {
    if (block.number <= this.#lastAdded)
      throw new IndexConflictError(
        `block ${block.number} comes after block ${this.#lastAdded} in one change`,
      );
    this.#lastAdded = block.number;
    const held = this.#blockAt(block.number);
    if (held !== undefined)
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

  #changePostings(): void {
    for (const [segment, lists] of this.#postings) {
      const removeStart = this.#firstRemovedPosition(segment);
      for (const side of SIDES)
        for (const [term, added] of lists[side])
          this.#changeList(postingKey(segment, side, term), removeStart, added);
    }
  }

  /** Takes the positions from `removeStart` on out of a list, and puts others behind what is left. */
  #changeList(key: Buffer, removeStart: number, added: readonly number[]): void {
    const { postings } = this.#environment;
    if (removeStart === END_OF_SEGMENT) {
      const page = appendToPage(this.#state.read(postings, key), added);
      if (page !== undefined) return this.#put(postings, key, page);
    }
    const read = (page: number): Buffer | undefined => this.#state.read(postings, pageKey(key, page));
    for (const [page, bytes] of changePages(read, removeStart, END_OF_SEGMENT, added))
      if (bytes === undefined) this.#delete(postings, pageKey(key, page));
      else this.#put(postings, pageKey(key, page), bytes);
  }

  #firstRemovedPosition(segment: number): number {
    const first = firstBlockOf(segment);
    if (this.#undoFrom <= first) return 0;
    if (this.#undoFrom >= first + BLOCKS_PER_SEGMENT) return END_OF_SEGMENT;
    return positionOf(this.#undoFrom, 0);
  }

  #putSegments(): void {
    for (const [number, segment] of this.#segments)
      this.#put(this.#environment.segments, uint32Key(number), segment.encode());
  }

  #postingsOf(segment: number): SegmentPostings {
    let lists = this.#postings.get(segment);
    if (lists === undefined) {
      lists = { from: new Map(), to: new Map(), transaction: new Map() };
      this.#postings.set(segment, lists);
    }
    return lists;
  }

  #segmentOf(number: number): Segment {
    let segment = this.#segments.get(number);
    if (segment === undefined) {
      segment = new Segment(this.#state.segment(number).encode());
      this.#segments.set(number, segment);
    }
    return segment;
  }

  #put(database: Database<Buffer, Buffer>, key: Buffer, value: Buffer): void {
    this.#writes.push({ database, key, value, append: false });
  }

  #delete(database: Database<Buffer, Buffer>, key: Buffer): void {
    this.#writes.push({ database, key, value: undefined, append: false });
  }

  #putMeta(name: 'head' | 'finalized', value: number | undefined): void {
    const key = Buffer.from(name);
    if (value === undefined) this.#delete(this.#environment.meta, key);
    else this.#put(this.#environment.meta, key, uint32Key(value));
  }
}
