import { typeIn, valueBitsIn } from '../chunk/attributes.ts';
import { TRACE_TYPES } from '../chunk/format.ts';
import { BLOCKS_PER_SEGMENT, blockAt, firstBlockOf, segmentOf, traceIndexAt } from '../position.ts';
import type { PostingTerm } from '../store.ts';
import { typesOf } from './filterMatcher.ts';
import { MAX_MISSING_RANGES, resolvedRange } from './page.ts';
import type {
  AddressSide,
  BlockRange,
  HistoryPosition,
  HistorySummary,
  Order,
  SummaryQuery,
} from './query.ts';
import { type HistoryReader, WorkBudget } from './reader.ts';
import { listsOf, type Search, type SegmentLists, termsOf, walkOf } from './segments.ts';
import { TraceMatcher } from './traceMatcher.ts';

/**
 * Thrown if the work budget does not suffice to find the first or last block of a history, because the directory is
 * not built yet.
 */
export class DirectoryNotReadyError extends Error {
  override readonly name = 'DirectoryNotReadyError';
}

/**
 * Summarises the history of an address. Counts and value sums start at the newest block, and each ends at the block
 * at which its work budget is used up.
 */
export function summarizeHistory(reader: HistoryReader, query: SummaryQuery): HistorySummary {
  const range = resolvedRange(reader, query);
  const { ranges, coveredUpTo = range.fromBlock } = reader.missing(range, 'desc', MAX_MISSING_RANGES);
  const terms = termsOf([query.address]);
  const types = typesOf({});
  const search: Search<readonly PostingTerm[]> = { terms, direction: 'either', types, order: 'desc', range };
  const reported = { ...search, range: { ...range, fromBlock: coveredUpTo } };
  const lastBlock = endOf(reader, search, 'desc');
  return {
    range,
    firstBlock: lastBlock === undefined ? undefined : endOf(reader, search, 'asc'),
    lastBlock,
    counts: countTypes(reader, reported),
    value: sumValues(reader, reported),
    missing: ranges,
  };
}

/** Work budget of the counts, and of the value sums. Both together are below the work budget of a history page. */
const FIGURE_WORK = 15_000;

function endOf(reader: HistoryReader, search: Search, order: Order): number | undefined {
  for (const lists of listsOf(reader, { ...search, order }, new WorkBudget())) {
    if ('goOnWith' in lists) throw new DirectoryNotReadyError();
    const { position } = walkOf(lists, { ...search, order });
    if (position !== undefined) return blockAt(lists.segment, position);
  }
  return undefined;
}

/** Adds the trace at a position to the sum for the address as sender (`from`) or as recipient (`to`). */
type Add<T> = (sum: Record<AddressSide, T>, side: AddressSide, at: HistoryPosition) => void;

function countTypes(reader: HistoryReader, search: Search<readonly PostingTerm[]>): HistorySummary['counts'] {
  const work = new WorkBudget(FIGURE_WORK);
  const matcher = new TraceMatcher({}, reader, work);
  const sums = new BlockSums<number[]>(search, work, {
    zero: () => TRACE_TYPES.map(() => 0),
    copy: (counts) => [...counts],
    add: (sum, side, { blockNumber, traceIndex }) => {
      const type = typeIn(matcher.attributesOf(blockNumber, traceIndex));
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
  const work = new WorkBudget(FIGURE_WORK);
  const matcher = new TraceMatcher({}, reader, work);
  const sums = new BlockSums<bigint>(search, work, {
    zero: () => 0n,
    copy: (value) => value,
    add: (sum, side, { blockNumber, traceIndex }) => {
      if (valueBitsIn(matcher.attributesOf(blockNumber, traceIndex)) > 0)
        sum[side] += matcher.valueAt(blockNumber, traceIndex);
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

/** Sums counts or values of traces block by block, from the highest block down, until the work budget is used up. */
class BlockSums<T> {
  /** The sums over all blocks whose traces were all added. */
  kept: Record<AddressSide, T>;
  readonly #search: Search<readonly PostingTerm[]>;
  readonly #work: WorkBudget;
  readonly #summing: Summing<T>;
  #hasBlock = false;
  /** Lowest block that the sums include. */
  #lowest: number;

  constructor(search: Search<readonly PostingTerm[]>, work: WorkBudget, summing: Summing<T>) {
    this.#search = search;
    this.#work = work;
    this.#summing = summing;
    this.#lowest = search.range.fromBlock;
    this.kept = { from: summing.zero(), to: summing.zero() };
  }

  result(): { by: Record<AddressSide, T>; range: BlockRange | undefined } {
    const { toBlock } = this.#search.range;
    const range = this.#lowest > toBlock ? undefined : { fromBlock: this.#lowest, toBlock };
    return { by: this.kept, range };
  }

  /** Records that the sums do not include the blocks of this segment and of all lower segments. */
  stopAbove(segment: number): void {
    this.#lowest = Math.max(this.#search.range.fromBlock, firstBlockOf(segment + 1));
  }

  /** Adds the traces of a segment. Returns false if the work budget was used up before the segment's lowest block. */
  addSegment(reader: HistoryReader, segment: number): boolean {
    if (this.#work.isExhausted) {
      this.stopAbove(segment);
      return false;
    }
    const [term = ''] = this.#search.terms;
    const sided = (side: AddressSide) => [reader.postings(segment, side, term) ?? []].flat();
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
        // Sums end at a block boundary. They include at least one block, so that every query makes progress.
        if (this.#work.isExhausted && this.#hasBlock) {
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
