import { typeIn, valueBitsIn } from '../chunk/attributes.ts';
import { TRACE_TYPES } from '../chunk/format.ts';
import { BLOCKS_PER_SEGMENT, blockAt, firstBlockOf, segmentOf, traceIndexAt } from '../position.ts';
import type { PostingTerm } from '../store.ts';
import { MAX_MISSING_RANGES, settledRange } from './page.ts';
import type { BlockRange, HistoryPlace, HistorySummary, Order, Sides, SummaryQuery } from './query.ts';
import { type HistoryReader, WorkLeft } from './reader.ts';
import { listsOf, type Search, type SegmentLists, termsOf, walkOf } from './segments.ts';
import { TraceTest } from './traceTest.ts';

/** The index has not prepared yet what it needs to find the ends of a history. */
export class DirectoryUnfinishedError extends Error {
  override readonly name = 'DirectoryUnfinishedError';
}

/** Sums up a history, newest blocks first, each figure as far as a bound of work goes. */
export function summarizeHistory(reader: HistoryReader, query: SummaryQuery): HistorySummary {
  const range = settledRange(reader, query);
  const { ranges, toldUpTo = range.fromBlock } = reader.missing(range, 'desc', MAX_MISSING_RANGES);
  const terms = termsOf([query.address]);
  const search: Search<readonly PostingTerm[]> = { terms, direction: 'either', order: 'desc', range };
  const told = { ...search, range: { ...range, fromBlock: toldUpTo } };
  const lastBlock = endOf(reader, search, 'desc');
  return {
    range,
    firstBlock: lastBlock === undefined ? undefined : endOf(reader, search, 'asc'),
    lastBlock,
    counts: countTypes(reader, told),
    value: sumValues(reader, told),
    missing: ranges,
  };
}

/** What one figure may look at: two of them take no longer than a page. */
const FIGURE_WORK = 15_000;

/** The first block, in an order, that has a trace. */
function endOf(reader: HistoryReader, search: Search, order: Order): number | undefined {
  for (const lists of listsOf(reader, { ...search, order }, new WorkLeft())) {
    if ('goOnWith' in lists) throw new DirectoryUnfinishedError();
    const { position } = walkOf(lists, { ...search, order });
    if (position !== undefined) return blockAt(lists.segment, position);
  }
  return undefined;
}

/** Adds what one trace comes to, on the sides on which the address is; what it adds to is given back once a block is whole. */
type Add<T> = (sum: Record<Sides, T>, side: Sides, at: HistoryPlace) => void;

function countTypes(reader: HistoryReader, search: Search<readonly PostingTerm[]>): HistorySummary['counts'] {
  const work = new WorkLeft(FIGURE_WORK);
  const test = new TraceTest({}, reader, work);
  const sums = new Sums<number[]>(search, work, {
    zero: () => TRACE_TYPES.map(() => 0),
    copy: (counts) => [...counts],
    add: (sum, side, { blockNumber, traceIndex }) => {
      const type = typeIn(test.attributesOf(blockNumber, traceIndex));
      sum[side][type] = (sum[side][type] ?? 0) + 1;
    },
  });
  const { range } = search;
  const [first, last] = [segmentOf(range.fromBlock), segmentOf(range.toBlock)];
  for (const { segment, counts } of reader.countsOf(search.terms[0] ?? '', { first, last }, work)) {
    const start = firstBlockOf(segment);
    const isWhole = start >= range.fromBlock && start + BLOCKS_PER_SEGMENT - 1 <= range.toBlock;
    if (counts !== undefined && isWhole)
      for (const side of ['from', 'to'] as const)
        sums.kept[side] = sums.kept[side].map((count, type) => count + (counts[side][type] ?? 0));
    else if (!sums.addSegment(reader, segment)) break;
  }
  return sums.result();
}

function sumValues(reader: HistoryReader, search: Search<readonly PostingTerm[]>): HistorySummary['value'] {
  const work = new WorkLeft(FIGURE_WORK);
  const test = new TraceTest({}, reader, work);
  const sums = new Sums<bigint>(search, work, {
    zero: () => 0n,
    copy: (value) => value,
    add: (sum, side, { blockNumber, traceIndex }) => {
      if (valueBitsIn(test.attributesOf(blockNumber, traceIndex)) > 0)
        sum[side] += test.valueAt(blockNumber, traceIndex);
    },
  });
  for (const lists of listsOf(reader, search, work))
    if ('goOnWith' in lists) {
      sums.stopAbove(lists.goOnWith);
      break;
    } else if (!sums.addLists(lists)) break;
  return sums.result();
}

interface Summing<T> {
  readonly zero: () => T;
  readonly copy: (value: T) => T;
  readonly add: Add<T>;
}

/** What is added up block by block, from the highest down, until the work is over. */
class Sums<T> {
  /** Of whole blocks. */
  kept: Record<Sides, T>;
  readonly #search: Search<readonly PostingTerm[]>;
  readonly #work: WorkLeft;
  readonly #summing: Summing<T>;
  #hasBlock = false;
  /** The lowest block that is summed up whole. */
  #lowest: number;

  constructor(search: Search<readonly PostingTerm[]>, work: WorkLeft, summing: Summing<T>) {
    this.#search = search;
    this.#work = work;
    this.#summing = summing;
    this.#lowest = search.range.fromBlock;
    this.kept = { from: summing.zero(), to: summing.zero() };
  }

  result(): { by: Record<Sides, T>; range: BlockRange | undefined } {
    const { toBlock } = this.#search.range;
    const range = this.#lowest > toBlock ? undefined : { fromBlock: this.#lowest, toBlock };
    return { by: this.kept, range };
  }

  /** Nothing was looked at from a segment down. */
  stopAbove(segment: number): void {
    this.#lowest = Math.max(this.#search.range.fromBlock, firstBlockOf(segment + 1));
  }

  /** False where the work was over before the segment was. */
  addSegment(reader: HistoryReader, segment: number): boolean {
    if (this.#work.isOver) {
      this.stopAbove(segment);
      return false;
    }
    const [term = ''] = this.#search.terms;
    const sided = (side: Sides) => [reader.postings(segment, side, term) ?? []].flat();
    return this.addLists({ segment, from: sided('from'), to: sided('to') });
  }

  addLists(lists: SegmentLists): boolean {
    const { segment, from, to } = lists;
    const { add, copy } = this.#summing;
    const walk = walkOf(lists, this.#search);
    const sum = { from: copy(this.kept.from), to: copy(this.kept.to) };
    let block = -1;
    for (let position = walk.position; position !== undefined; position = walk.position) {
      const blockNumber = blockAt(segment, position);
      if (blockNumber !== block) {
        this.kept = { from: copy(sum.from), to: copy(sum.to) };
        // A block is summed up whole, and one at the least: so that whoever asks for the rest gets on.
        if (this.#work.isOver && this.#hasBlock) {
          this.#lowest = blockNumber + 1;
          return false;
        }
      }
      block = blockNumber;
      this.#hasBlock = true;
      this.#work.spend(1);
      const at = { blockNumber, traceIndex: traceIndexAt(position) };
      for (let list = 0; list < from.length + to.length; list++)
        if (walk.isIn(list)) add(sum, list < from.length ? 'from' : 'to', at);
      walk.advance();
    }
    this.kept = sum;
    return true;
  }
}
