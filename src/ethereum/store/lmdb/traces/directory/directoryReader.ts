import type { Database } from 'lmdb';
import {
  COST,
  type FoundList,
  type FoundSegment,
  type PostingTerm,
  type SegmentCounts,
  type SegmentsAsked,
  TRACE_TYPES,
  type WorkLeft,
} from '../../../../traces/index.ts';
import type { TraceEnvironment } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { DIRECTORY_KEY } from './directoryKeys.ts';
import { HalfSipHash } from './halfSipHash.ts';
import { PartReader, SIDE_COLUMNS } from './parts.ts';
import { bucketKey, bucketOf, decodeRunHead, findParts, hashOf, runKey } from './run.ts';
import { inOrder, NO_RUN, runOf, type SegmentStates, type Span, spansWithin } from './segmentStates.ts';

/** Bytes of parts that take as long as a position. */
const PART_BYTES_PER_WORK = 64;

/** More than a level has. */
const MAX_RUNS = 2 ** 32;

const BOTH_SIDES = ['from', 'to'] as const;

/** Told of a segment that has an address; nothing else may be read meanwhile. */
type VisitPart = (part: PartReader) => void;

interface RunAsked {
  readonly term: PostingTerm;
  readonly work: WorkLeft;
}

interface Segments {
  readonly first: number;
  readonly last: number;
}

interface FoundLists extends FoundSegment {
  readonly from: FoundList[];
  readonly to: FoundList[];
}

/** An address as the directory knows it. */
interface Hashed {
  readonly term: PostingTerm;
  readonly address: Uint8Array;
  readonly hash: number;
}

/** Finds the segments that have an address, by the runs of the directory where they are in one. */
export class DirectoryReader {
  readonly #environment: TraceEnvironment;
  readonly #state: IndexState;
  readonly #part = new PartReader();
  #hash: HalfSipHash | undefined;
  /** Bits of the buckets of runs, by level and run, as they are while the states of segments are these. */
  readonly #bits = new Map<number, number>();
  #statesOfBits: SegmentStates | undefined;
  /** The address that was looked up last, in one run after the other. */
  #hashed: Hashed | undefined;

  constructor(environment: TraceEnvironment, state: IndexState) {
    this.#environment = environment;
    this.#state = state;
  }

  *segmentsWith(asked: SegmentsAsked, work: WorkLeft): Generator<FoundSegment> {
    const { terms, direction, order } = asked;
    const any = terms === 'all' ? [] : terms;
    const unread = { from: direction === 'to' ? [] : any, to: direction === 'from' ? [] : any };
    for (const span of spansWithin(this.#state.segmentStates().spans(), asked)) {
      if (work.isOver) {
        yield { segment: order === 'asc' ? span.first : span.last, ...unread };
        return;
      }
      if (span.level === NO_RUN || terms === 'all')
        for (const segment of inOrder(span, order)) yield { segment, ...unread };
      else yield* this.#inRun(span, { ...asked, terms }, work);
    }
  }

  /** The segments of a run's span that have any of the terms. */
  #inRun(
    span: Span,
    { terms, direction, order }: SegmentsAsked & { readonly terms: readonly PostingTerm[] },
    work: WorkLeft,
  ): Iterable<FoundSegment> {
    const sides = direction === 'either' ? BOTH_SIDES : [direction];
    const found = new Map<number, FoundLists>();
    for (const term of terms)
      this.visitRun(span, { term, work }, (part) => {
        if ((part.columns & SIDE_COLUMNS[direction]) === 0) return;
        const { segment } = part;
        const lists = found.get(segment) ?? { segment, from: [], to: [] };
        found.set(segment, lists);
        for (const side of sides)
          if ((part.columns & SIDE_COLUMNS[side]) !== 0) lists[side].push(part.positions(side) ?? term);
      });
    const step = order === 'asc' ? 1 : -1;
    return [...found.values()].sort((a, b) => (a.segment - b.segment) * step);
  }

  *countsOf(term: PostingTerm, segments: Segments, work: WorkLeft): Generator<SegmentCounts> {
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

  /** Visits what a run tells of an address, of the segments of a span of it. */
  visitRun({ first, last, level }: Span, { term, work }: RunAsked, visit: VisitPart): void {
    const parts = this.#partsOf(level, runOf(level, first), this.#hashedOf(term));
    work.spend(COST.run + (parts?.length ?? 0) / PART_BYTES_PER_WORK);
    if (parts === undefined) return;
    const part = this.#part.open(parts);
    while (part.next()) if (part.segment >= first && part.segment <= last) visit(part);
  }

  #partsOf(level: number, run: number, { address, hash }: Hashed): Uint8Array | undefined {
    const database = this.#environment.directory(level);
    if (database === undefined) return undefined;
    const bits = this.#bitsOf(database, level, run);
    const record = this.#state.read(database, bucketKey(run, bucketOf(hash, bits)));
    return record && findParts(record, address);
  }

  #bitsOf(database: Database<Buffer, Buffer>, level: number, run: number): number {
    const states = this.#state.segmentStates();
    if (states !== this.#statesOfBits) this.#bits.clear();
    this.#statesOfBits = states;
    const name = level * MAX_RUNS + run;
    const known = this.#bits.get(name);
    if (known !== undefined) return known;
    const head = this.#state.read(database, runKey(run));
    if (head === undefined) throw new Error(`the index is damaged: run ${run} of level ${level} is missing`);
    const { bits } = decodeRunHead(head);
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
      if (key === undefined) throw new Error('the index is damaged: the key of its directory is missing');
      this.#hash = new HalfSipHash(Buffer.from(key));
    }
    return this.#hash;
  }
}
