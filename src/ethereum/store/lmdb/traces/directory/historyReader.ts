import {
  actionValue,
  attributesOf,
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  COST,
  firstBlockOf,
  type HistoryReader,
  type InternalFrame,
  internalFrameAt,
  type Missing,
  type Order,
  type PostingList,
  type PostingTerm,
  type SegmentCounts,
  type SegmentsAsked,
  type Side,
  type StoredBlock,
  segmentOf,
  TRACE_TYPES,
  TRACES_PER_CHUNK,
  type WorkLeft,
} from '../../../../traces/index.ts';
import type { TraceEnvironment } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { uint32Key } from '../keys.ts';
import { DIRECTORY_KEY } from './directoryKeys.ts';
import { HalfSipHash } from './halfSipHash.ts';
import {
  bucketKey,
  bucketOf,
  COLUMNS,
  decodeRunHead,
  findParts,
  hashOf,
  runKey,
  SIDE_COLUMNS,
  visitParts,
} from './run.ts';
import { type IncompleteSpan, NO_RUN, runOf, type Span } from './segmentStates.ts';

/** Bytes of parts that take as long as a position. */
const PART_BYTES_PER_WORK = 64;

/** Told of a segment that has an address: its columns, and the count of each that is set. */
export type VisitPart = (segment: number, columns: number, counts: Float64Array) => void;

interface RunAsked {
  readonly term: PostingTerm;
  readonly work: WorkLeft;
}

/** What histories are read from: the posting lists, and beside them the attributes of traces and the directory of addresses. */
export class LmdbHistoryReader implements HistoryReader {
  readonly #environment: TraceEnvironment;
  readonly #state: IndexState;
  readonly #counts = new Float64Array(COLUMNS);
  #hash: HalfSipHash | undefined;

  constructor(environment: TraceEnvironment, state: IndexState) {
    this.#environment = environment;
    this.#state = state;
  }

  block(blockNumber: number): StoredBlock | undefined {
    return this.#state.block(blockNumber);
  }

  firstBlock(): number | undefined {
    const [span] = this.#state.segmentStates().spans();
    if (span === undefined) return undefined;
    const segment = this.#state.segment(span.first);
    let offset = 0;
    while (offset < BLOCKS_PER_SEGMENT && !segment.has(offset)) offset++;
    return firstBlockOf(span.first) + offset;
  }

  postings(segment: number, side: Side, term: PostingTerm): PostingList | undefined {
    return this.#state.postings(segment, side, term);
  }

  allTraces(segment: number): PostingList | undefined {
    return this.#state.allTraces(segment);
  }

  attributes(blockNumber: number, work: WorkLeft): Uint16Array {
    const key = uint32Key(blockNumber);
    const record = this.#environment.attributes && this.#state.read(this.#environment.attributes, key);
    if (record !== undefined) {
      const attributes = new Uint16Array(record.length / 2);
      new Uint8Array(attributes.buffer).set(record);
      return attributes;
    }
    // An index of a version before: worked out from the traces, as whoever adds them to it does.
    const traceCount = this.#state.block(blockNumber)?.traceCount ?? 0;
    work.spend(traceCount);
    return attributesOf(this.#chunksOf(blockNumber, traceCount), traceCount);
  }

  *#chunksOf(blockNumber: number, traceCount: number): Generator<Uint8Array> {
    for (let index = 0; index < traceCount; index += TRACES_PER_CHUNK)
      yield this.#state.chunk(blockNumber, index);
  }

  value(blockNumber: number, traceIndex: number): bigint {
    return actionValue(this.#state.chunk(blockNumber, traceIndex), traceIndex % TRACES_PER_CHUNK);
  }

  frame(blockNumber: number, traceIndex: number): InternalFrame {
    return internalFrameAt(this.#state.chunk(blockNumber, traceIndex), traceIndex % TRACES_PER_CHUNK);
  }

  *segmentsWith(asked: SegmentsAsked, work: WorkLeft): Generator<number> {
    const { terms, direction, order } = asked;
    for (const span of spansWithin(this.#state.segmentStates().spans(), asked)) {
      if (work.isOver) {
        yield order === 'asc' ? span.first : span.last;
        return;
      }
      if (span.level === NO_RUN || terms === 'all') yield* inOrder(span, order);
      else yield* this.#inRun(span, { terms, direction, order }, work);
    }
  }

  /** The segments of a run's span that have any of the terms. */
  #inRun(
    span: Span,
    {
      terms,
      direction,
      order,
    }: Pick<SegmentsAsked, 'direction' | 'order'> & { readonly terms: readonly PostingTerm[] },
    work: WorkLeft,
  ): number[] {
    const found = new Set<number>();
    for (const term of terms)
      this.visitRun(span, { term, work }, (segment, columns) => {
        if ((columns & SIDE_COLUMNS[direction]) !== 0) found.add(segment);
      });
    const ascending = [...found].sort((a, b) => a - b);
    return order === 'asc' ? ascending : ascending.reverse();
  }

  *countsOf(
    term: PostingTerm,
    segments: { readonly first: number; readonly last: number },
    work: WorkLeft,
  ): Generator<SegmentCounts> {
    for (const span of spansWithin(this.#state.segmentStates().spans(), { ...segments, order: 'desc' })) {
      if (span.level === NO_RUN)
        for (const segment of inOrder(span, 'desc')) yield { segment, counts: undefined };
      else {
        const found: SegmentCounts[] = [];
        this.visitRun(span, { term, work }, (segment, _, columns) => {
          const [from, to] = [columns.slice(0, TRACE_TYPES.length), columns.slice(TRACE_TYPES.length)];
          found.push({ segment, counts: { from, to } });
        });
        yield* found.sort((a, b) => b.segment - a.segment);
      }
    }
  }

  /** Visits what a run tells of an address, of the segments of a span of it. */
  visitRun({ first, last, level }: Span, { term, work }: RunAsked, visit: VisitPart): void {
    const address = Buffer.from(term.slice(2), 'hex');
    const parts = this.#partsOf(level, runOf(level, first), address);
    work.spend(COST.run + (parts?.length ?? 0) / PART_BYTES_PER_WORK);
    if (parts === undefined) return;
    visitParts(parts, this.#counts, (segment, columns) => {
      if (segment >= first && segment <= last) visit(segment, columns, this.#counts);
    });
  }

  #partsOf(level: number, run: number, address: Buffer): Uint8Array | undefined {
    const database = this.#environment.directory(level);
    if (database === undefined) return undefined;
    const head = this.#state.read(database, runKey(run));
    if (head === undefined) throw new Error(`the index is damaged: run ${run} of level ${level} is missing`);
    const { bits } = decodeRunHead(head);
    const bucket = bucketOf(hashOf(this.#addressHash(), address), bits);
    const record = this.#state.read(database, bucketKey(run, bucket));
    return record && findParts(record, address);
  }

  #addressHash(): HalfSipHash {
    if (this.#hash === undefined) {
      const key = this.#state.read(this.#environment.meta, DIRECTORY_KEY);
      if (key === undefined) throw new Error('the index is damaged: the key of its directory is missing');
      this.#hash = new HalfSipHash(Buffer.from(key));
    }
    return this.#hash;
  }

  missing(range: BlockRange, order: Order, max: number): Missing {
    const { fromBlock, toBlock } = range;
    if (fromBlock > toBlock) return { ranges: [] };
    const [first, last] = [segmentOf(fromBlock), segmentOf(toBlock)];
    const states = this.#state.segmentStates();
    const spans: IncompleteSpan[] = [...states.incomplete()];
    // Behind the last segment there is nothing.
    if (last >= states.length)
      spans.push({ first: states.length, last: Number.MAX_SAFE_INTEGER, hasBlocks: false });
    const found: BlockRange[] = [];
    for (const span of spansWithin(spans, { first, last, order })) {
      for (const gap of this.#gapsOf(span, order)) {
        const clipped = {
          fromBlock: Math.max(gap.fromBlock, fromBlock),
          toBlock: Math.min(gap.toBlock, toBlock),
        };
        if (clipped.fromBlock > clipped.toBlock || joins(found, clipped, order)) continue;
        if (found.length === max)
          return {
            ranges: ascending(found, order),
            toldUpTo: order === 'asc' ? clipped.fromBlock - 1 : clipped.toBlock + 1,
          };
        found.push(clipped);
      }
    }
    return { ranges: ascending(found, order) };
  }

  *#gapsOf(span: IncompleteSpan, order: Order): Generator<BlockRange> {
    if (span.hasBlocks) for (const segment of inOrder(span, order)) yield* this.#gapsIn(segment, order);
    else yield { fromBlock: firstBlockOf(span.first), toBlock: firstBlockOf(span.last + 1) - 1 };
  }

  #gapsIn(number: number, order: Order): BlockRange[] {
    const segment = this.#state.segment(number);
    const gaps: BlockRange[] = [];
    const first = firstBlockOf(number);
    for (let offset = segment.firstMissing(0); offset < BLOCKS_PER_SEGMENT; ) {
      let end = offset;
      while (end < BLOCKS_PER_SEGMENT && !segment.has(end)) end++;
      gaps.push({ fromBlock: first + offset, toBlock: first + end - 1 });
      offset = end === BLOCKS_PER_SEGMENT ? end : segment.firstMissing(end);
    }
    return order === 'asc' ? gaps : gaps.reverse();
  }
}

/** Makes the last range found longer where another goes on from it; false where it does not. */
function joins(found: BlockRange[], next: BlockRange, order: Order): boolean {
  const last = found.at(-1);
  if (last === undefined) return false;
  const [low, high] = order === 'asc' ? [last, next] : [next, last];
  if (low.toBlock + 1 !== high.fromBlock) return false;
  found[found.length - 1] = { fromBlock: low.fromBlock, toBlock: high.toBlock };
  return true;
}

const ascending = (found: BlockRange[], order: Order): BlockRange[] =>
  order === 'asc' ? found : found.reverse();

function inOrder({ first, last }: { first: number; last: number }, order: Order): number[] {
  const segments = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  return order === 'asc' ? segments : segments.reverse();
}

/** Spans in an order, as far as they lie between two segments. */
function spansWithin<S extends { readonly first: number; readonly last: number }>(
  spans: readonly S[],
  { first, last, order }: { readonly first: number; readonly last: number; readonly order: Order },
): S[] {
  const cut = [];
  for (const span of spans)
    if (span.last >= first && span.first <= last)
      cut.push({ ...span, first: Math.max(first, span.first), last: Math.min(last, span.last) });
  return order === 'asc' ? cut : cut.reverse();
}
