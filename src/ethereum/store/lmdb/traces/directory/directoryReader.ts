import type { Database } from 'lmdb';
import {
  COST,
  type FoundList,
  type FoundSegment,
  type PostingTerm,
  type SegmentCounts,
  type SegmentsQuery,
  TRACE_TYPES,
  WorkBudget,
} from '../../../../traces/index.ts';
import type { TraceEnvironment } from '../environment.ts';
import { DIRECTORY_KEY, missingDirectoryKey } from './directoryKeys.ts';
import { HalfSipHash } from './halfSipHash.ts';
import { columnOf, PartReader, type PartSide } from './parts.ts';
import { bucketOf, decodeRunHead, findParts, hashOf, type RunName } from './run.ts';
import {
  inOrder,
  NO_RUN,
  runOf,
  type SegmentSpan,
  type SegmentStates,
  spansWithin,
} from './segmentStates.ts';

/** Reading this many bytes of parts (see parts.ts) takes as long as reading one position of a posting list. */
const PART_BYTES_PER_WORK = 64;

/** All run numbers of a level are lower than this. */
const MAX_RUNS = 2 ** 32;

const BOTH_SIDES = ['from', 'to'] as const;

/** Returns the columns of a part (see parts.ts) that count traces of these types on a side. */
const columnsOf = (side: PartSide, types: readonly number[]): number =>
  types.reduce((columns, type) => columns | (1 << columnOf(side, type)), 0);

const ALL_TYPES = TRACE_TYPES.map((_, type) => type);
const ALL_COLUMNS = { from: columnsOf('from', ALL_TYPES), to: columnsOf('to', ALL_TYPES) };

/**
 * Called with the part (see parts.ts) of each segment that contains the address. It must not read from the database,
 * because the read could overwrite the part.
 */
type VisitPart = (part: PartReader) => void;

interface RunAsked {
  readonly term: PostingTerm;
  readonly work: WorkBudget;
}

interface Segments {
  readonly first: number;
  readonly last: number;
}

interface FoundLists extends FoundSegment {
  readonly from: FoundList[];
  readonly to: FoundList[];
}

interface Hashed {
  readonly term: PostingTerm;
  readonly address: Uint8Array;
  readonly hash: number;
}

/** The records of the index that a DirectoryReader reads. */
interface DirectoryState {
  segmentStates(): SegmentStates;
  read(database: Database<Buffer, Buffer>, key: Buffer): Buffer | undefined;
  runRecord(name: RunName, bucket?: number): Buffer;
}

/**
 * Finds the segments that contain an address by a lookup in the runs of the directory. Segments that no run covers
 * are always returned.
 */
export class DirectoryReader {
  readonly #environment: TraceEnvironment;
  readonly #state: DirectoryState;
  readonly #part = new PartReader();
  #hash: HalfSipHash | undefined;
  /** For each run, the number of hash bits that select a bucket. */
  readonly #bits = new Map<number, number>();
  /** The states of the segments under which the hash function and `#bits` were read. */
  #cachedUnder: SegmentStates | undefined;
  /** The last address that was looked up, and its hash. Usually several runs are searched for the same address. */
  #hashed: Hashed | undefined;

  constructor(environment: TraceEnvironment, state: DirectoryState) {
    this.#environment = environment;
    this.#state = state;
  }

  *segmentsWith(asked: SegmentsQuery, work: WorkBudget): Generator<FoundSegment> {
    const { terms, direction, order } = asked;
    const any = terms === 'all' ? [] : terms;
    const unread = { from: direction === 'to' ? [] : any, to: direction === 'from' ? [] : any };
    for (const span of spansWithin(this.#state.segmentStates().spans(), asked)) {
      if (work.isExhausted) {
        yield { segment: order === 'asc' ? span.first : span.last, ...unread };
        return;
      }
      if (span.level === NO_RUN || terms === 'all')
        for (const segment of inOrder(span, order)) yield { segment, ...unread };
      else yield* this.#inRun(span, { ...asked, terms }, work);
    }
  }

  /** Returns the segments that contain any of the addresses `terms`. One run covers all segments of `span`. */
  #inRun(
    span: SegmentSpan,
    { terms, direction, types, order }: SegmentsQuery & { readonly terms: readonly PostingTerm[] },
    work: WorkBudget,
  ): Iterable<FoundSegment> {
    const sides: readonly PartSide[] = direction === 'either' ? BOTH_SIDES : [direction];
    const columns = { from: columnsOf('from', types), to: columnsOf('to', types) };
    const wanted = sides.reduce((mask, side) => mask | columns[side], 0);
    const found = new Map<number, FoundLists>();
    for (const term of terms)
      this.visitRun(span, { term, work }, (part) => {
        if ((part.columns & wanted) === 0) return;
        const { segment } = part;
        const lists = found.get(segment) ?? { segment, from: [], to: [] };
        found.set(segment, lists);
        for (const side of sides)
          if ((part.columns & columns[side]) !== 0) lists[side].push(part.positions(side) ?? term);
      });
    const step = order === 'asc' ? 1 : -1;
    return [...found.values()].sort((a, b) => (a.segment - b.segment) * step);
  }

  *countsOf(term: PostingTerm, segments: Segments, work: WorkBudget): Generator<SegmentCounts> {
    for (const span of spansWithin(this.#state.segmentStates().spans(), { ...segments, order: 'desc' })) {
      if (span.level === NO_RUN)
        for (const segment of inOrder(span, 'desc')) yield { segment, counts: undefined };
      else {
        const found: SegmentCounts[] = [];
        this.visitRun(span, { term, work }, ({ segment, counts }) => {
          const [from, to] = [counts.slice(0, TRACE_TYPES.length), counts.slice(TRACE_TYPES.length)];
          found.push({ segment, counts: { from, to } });
        });
        yield* found.sort((a, b) => b.segment - a.segment);
      }
    }
  }

  /** Whether the run of a segment lists traces of an address on a side. Returns false if no run covers the segment. */
  hasTraces(segment: number, side: PartSide, term: PostingTerm): boolean {
    const level = this.#state.segmentStates().levelOf(segment);
    if (level === NO_RUN) return false;
    let columns = 0;
    this.visitRun({ first: segment, last: segment, level }, { term, work: new WorkBudget() }, (part) => {
      columns = part.columns & ALL_COLUMNS[side];
    });
    return columns !== 0;
  }

  /**
   * Calls `visit` with the part of an address for each segment of a span that contains the address. One run covers
   * the span.
   */
  visitRun({ first, last, level }: SegmentSpan, { term, work }: RunAsked, visit: VisitPart): void {
    this.#refresh();
    const parts = this.#partsOf(level, runOf(level, first), this.#hashedOf(term));
    work.spend(COST.run + (parts?.length ?? 0) / PART_BYTES_PER_WORK);
    if (parts === undefined) return;
    const part = this.#part.open(parts);
    while (part.next()) if (part.segment >= first && part.segment <= last) visit(part);
  }

  #partsOf(level: number, run: number, { address, hash }: Hashed): Uint8Array | undefined {
    const bits = this.#bitsOf(level, run);
    return findParts(this.#state.runRecord({ level, run }, bucketOf(hash, bits)), address);
  }

  /** Discards cached values if the states of the segments have changed: a repair replaces the key and all runs. */
  #refresh(): void {
    const states = this.#state.segmentStates();
    if (states === this.#cachedUnder) return;
    this.#cachedUnder = states;
    this.#bits.clear();
    this.#hash = undefined;
    this.#hashed = undefined;
  }

  #bitsOf(level: number, run: number): number {
    const name = level * MAX_RUNS + run;
    const known = this.#bits.get(name);
    if (known !== undefined) return known;
    const { bits } = decodeRunHead(this.#state.runRecord({ level, run }));
    this.#bits.set(name, bits);
    return bits;
  }

  #hashedOf(term: PostingTerm): Hashed {
    if (this.#hashed?.term !== term) {
      const address = Buffer.from(term.slice(2), 'hex');
      this.#hashed = { term, address, hash: hashOf(this.#addressHash(), address) };
    }
    return this.#hashed;
  }

  #addressHash(): HalfSipHash {
    if (this.#hash === undefined) {
      const key = this.#state.read(this.#environment.meta, DIRECTORY_KEY);
      if (key === undefined) throw this.#environment.noted(missingDirectoryKey());
      this.#hash = new HalfSipHash(Buffer.from(key));
    }
    return this.#hash;
  }
}
