import {
  actionValue,
  attributesOf,
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  type FoundSegment,
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
  TRACES_PER_CHUNK,
  type WorkLeft,
} from '../../../../traces/index.ts';
import type { TraceEnvironment } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { uint32Key } from '../keys.ts';
import { DirectoryReader } from './directoryReader.ts';
import { type IncompleteSpan, inOrder, spansWithin } from './segmentStates.ts';

/** What histories are read from: the posting lists, and beside them the attributes of traces and the directory of addresses. */
export class LmdbHistoryReader implements HistoryReader {
  readonly #environment: TraceEnvironment;
  readonly #state: IndexState;
  readonly directory: DirectoryReader;
  /** The record of attributes that was read last. */
  #attributes = new Uint8Array(1024);

  constructor(environment: TraceEnvironment, state: IndexState) {
    this.#environment = environment;
    this.#state = state;
    this.directory = new DirectoryReader(environment, state);
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

  attributes(blockNumber: number, work: WorkLeft): ArrayLike<number> {
    const key = uint32Key(blockNumber);
    const record = this.#environment.attributes && this.#state.read(this.#environment.attributes, key);
    if (record === undefined) return this.attributesAnew(blockNumber, work);
    if (record.length > this.#attributes.byteLength) this.#attributes = new Uint8Array(2 * record.length);
    this.#attributes.set(record);
    return new Uint16Array(this.#attributes.buffer, 0, record.length / 2);
  }

  /** Worked out from the traces, as whoever adds them to an index of a version before does. */
  attributesAnew(blockNumber: number, work: WorkLeft): Uint16Array {
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

  segmentsWith(asked: SegmentsAsked, work: WorkLeft): Iterable<FoundSegment> {
    return this.directory.segmentsWith(asked, work);
  }

  countsOf(
    term: PostingTerm,
    segments: { readonly first: number; readonly last: number },
    work: WorkLeft,
  ): Iterable<SegmentCounts> {
    return this.directory.countsOf(term, segments, work);
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
