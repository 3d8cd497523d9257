import {
  actionValue,
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  type FoundSegment,
  firstBlockOf,
  firstGaps,
  type HistoryReader,
  type Missing,
  type Order,
  type PostingList,
  type PostingTerm,
  type SegmentCounts,
  type SegmentsQuery,
  type Side,
  type StoredBlock,
  segmentOf,
  TRACES_PER_CHUNK,
  type WorkBudget,
} from '../../../../traces/index.ts';
import { partOfBlock } from '../damagedIndexError.ts';
import type { TraceEnvironment } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { uint32Key } from '../keys.ts';
import type { DirectoryReader } from './directoryReader.ts';
import { type IncompleteSpan, inOrder, spansWithin } from './segmentStates.ts';

/** Reads the histories of addresses from posting lists, trace attributes and the directory in LMDB. */
export class LmdbHistoryReader implements HistoryReader {
  readonly #environment: TraceEnvironment;
  readonly #state: IndexState;
  readonly directory: DirectoryReader;
  #attributes = new Uint8Array(1024);

  constructor(environment: TraceEnvironment, state: IndexState) {
    this.#environment = environment;
    this.#state = state;
    this.directory = state.directory;
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

  attributes(blockNumber: number): ArrayLike<number> {
    const record = this.#state.read(this.#environment.attributes, uint32Key(blockNumber));
    if (record === undefined) {
      // The directory upkeep can request a block that was replaced in the meantime.
      if ((this.#state.block(blockNumber)?.traceCount ?? 0) === 0) return [];
      throw this.#state.lost(`the attributes of block ${blockNumber} are missing`, partOfBlock(blockNumber));
    }
    if (record.length > this.#attributes.byteLength) this.#attributes = new Uint8Array(2 * record.length);
    this.#attributes.set(record);
    return new Uint16Array(this.#attributes.buffer, 0, record.length / 2);
  }

  value(blockNumber: number, traceIndex: number): bigint {
    return actionValue(this.#state.chunk(blockNumber, traceIndex), traceIndex % TRACES_PER_CHUNK);
  }

  chunk(blockNumber: number, traceIndex: number): Uint8Array {
    return this.#state.chunk(blockNumber, traceIndex);
  }

  segmentsWith(asked: SegmentsQuery, work: WorkBudget): Iterable<FoundSegment> {
    return this.directory.segmentsWith(asked, work);
  }

  countsOf(
    term: PostingTerm,
    segments: { readonly first: number; readonly last: number },
    work: WorkBudget,
  ): Iterable<SegmentCounts> {
    return this.directory.countsOf(term, segments, work);
  }

  missing(range: BlockRange, order: Order, max: number): Missing {
    const { fromBlock, toBlock } = range;
    if (fromBlock > toBlock) return { ranges: [] };
    const [first, last] = [segmentOf(fromBlock), segmentOf(toBlock)];
    const states = this.#state.segmentStates();
    const spans: IncompleteSpan[] = [...states.incomplete()];
    // Segments from number `states.length` on have no blocks.
    if (last >= states.length)
      spans.push({ first: states.length, last: Number.MAX_SAFE_INTEGER, hasBlocks: false });
    return firstGaps(this.#gapsOf(spansWithin(spans, { first, last, order }), order), { range, order, max });
  }

  *#gapsOf(spans: Iterable<IncompleteSpan>, order: Order): Generator<BlockRange> {
    for (const span of spans)
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
