import { BLOCKS_PER_SEGMENT, blockAt, firstBlockOf, traceIndexAt } from '../position.ts';
import { typesOf } from './filterMatcher.ts';
import type { ListWalk } from './listWalk.ts';
import {
  type BlockRange,
  BlockReplacedError,
  type HistoryPage,
  type HistoryPosition,
  type HistoryQuery,
  type Order,
} from './query.ts';
import { clipped, edgeOf, isEmptyRange, rangeAfter, rangeUpTo } from './ranges.ts';
import { type HistoryReader, WorkBudget } from './reader.ts';
import { listsOf, type Search, type SegmentLists, termsOf, walkOf } from './segments.ts';
import { TraceMatcher } from './traceMatcher.ts';

/** Maximum number of ranges of missing blocks per page. If there are more, the page ends before the next range. */
export const MAX_MISSING_RANGES = 1_000;

/**
 * Adds traces of a segment to the page. Returns how many it added: fewer than given if the page is full, but at least
 * one if the page was empty.
 */
export type AcceptTraces = (segment: number, positions: readonly number[]) => number;

/**
 * Reads one page of a history. The time is proportional to the number of traces and visited segments. When the work
 * budget is used up, the page ends early, with a cursor for the next page.
 */
export function readHistory(reader: HistoryReader, query: HistoryQuery, take: AcceptTraces): HistoryPage {
  const range = resolvedRange(reader, query);
  const { order, cursor } = query;
  checkPlace(reader, cursor);
  // Blocks whose gaps no earlier page reported. The previous page also covered the block of the cursor.
  const ahead = cursor === undefined ? range : rangeAfter(range, cursor.blockNumber, order);
  const missing = reader.missing(ahead, order, MAX_MISSING_RANGES);
  const bound = missing.coveredUpTo;
  const terms = query.addresses === 'all' ? query.addresses : termsOf(query.addresses);
  const within = bound === undefined ? range : rangeUpTo(range, bound, order);
  const search: Search = {
    terms,
    direction: query.direction,
    types: typesOf(query.filter),
    range: within,
    order,
    ...(cursor && { cursor }),
  };
  const reached = isEmptyRange(afterCursor(search).range)
    ? undefined
    : new PageWalk(reader, query, search).run(take);
  const next = reached ?? (bound === undefined ? undefined : edgeOf(bound, order));
  const covered = next === undefined ? ahead : rangeUpTo(ahead, next.blockNumber, order);
  return { range, next: next && withHash(reader, next), missing: clipped(missing.ranges, covered) };
}

/** Visits the traces of a search in order and adds the matching ones to a page until the page is full. */
class PageWalk {
  readonly #reader: HistoryReader;
  readonly #search: Search;
  readonly #work = new WorkBudget();
  readonly #matcher: TraceMatcher;
  #left: number;
  #last: HistoryPosition | undefined;

  constructor(reader: HistoryReader, { filter, limit }: HistoryQuery, search: Search) {
    this.#reader = reader;
    this.#search = search;
    this.#matcher = new TraceMatcher(filter, reader, this.#work);
    this.#left = limit;
  }

  /** Returns the last position that the page covers, as a cursor; undefined if no matches can follow it. */
  run(take: AcceptTraces): HistoryPosition | undefined {
    const { order } = this.#search;
    for (const lists of listsOf(this.#reader, afterCursor(this.#search), this.#work)) {
      // All earlier segments were searched completely, unless the page is full.
      if ('goOnWith' in lists) return this.#left > 0 ? edgeBefore(lists.goOnWith, order) : this.#last;
      const walk = walkOf(lists, this.#search);
      if (walk.position === undefined) continue;
      if (this.#left === 0) return this.#last;
      const { positions, place } = this.#collect(walk, lists);
      const taken = positions.length === 0 ? 0 : take(lists.segment, positions);
      if (taken < positions.length)
        return taken === 0 ? this.#last : placeAt(lists.segment, positions[taken - 1] ?? 0);
      this.#left -= taken;
      this.#last = place;
      if (walk.position !== undefined) return place;
    }
    return undefined;
  }

  /**
   * Returns the positions of a segment's matching traces until the page is full or the work budget is used up.
   * `place` is the last position that was examined.
   */
  #collect(walk: ListWalk, { segment }: SegmentLists): { positions: number[]; place: HistoryPosition } {
    const positions: number[] = [];
    let [last, looked] = [0, 0];
    for (
      let position = walk.position;
      position !== undefined && positions.length < this.#left;
      position = walk.position
    ) {
      // Examine at least one position, so that every page makes progress.
      if (looked++ > 0 && this.#work.isExhausted) break;
      this.#work.spend(1);
      last = position;
      if (this.#matcher.matches(blockAt(segment, position), traceIndexAt(position))) positions.push(position);
      walk.advance();
    }
    return { positions, place: placeAt(segment, last) };
  }
}

const placeAt = (segment: number, position: number): HistoryPosition => ({
  blockNumber: blockAt(segment, position),
  traceIndex: traceIndexAt(position),
});

/** Returns the range of a query. The default of `fromBlock` is the lowest block of the index. */
export function resolvedRange(
  reader: HistoryReader,
  { fromBlock, toBlock }: Pick<HistoryQuery, 'fromBlock' | 'toBlock'>,
): BlockRange {
  return { fromBlock: fromBlock ?? Math.min(reader.firstBlock() ?? toBlock, toBlock), toBlock };
}

function checkPlace(reader: HistoryReader, place: HistoryPosition | undefined): void {
  if (place?.blockHash === undefined) return;
  if (reader.block(place.blockNumber)?.hash !== place.blockHash)
    throw new BlockReplacedError(place.blockNumber);
}

function withHash(reader: HistoryReader, { blockNumber, traceIndex }: HistoryPosition): HistoryPosition {
  const hash = reader.block(blockNumber)?.hash;
  return { blockNumber, traceIndex, ...(hash !== undefined && { blockHash: hash }) };
}

/** Limits a search to the blocks from the cursor's block on, or after this block if the cursor is at its end. */
function afterCursor(search: Search): Search {
  const { cursor, range, order } = search;
  if (cursor === undefined) return search;
  const { blockNumber, traceIndex } = cursor;
  const isDone = traceIndex === edgeOf(blockNumber, order).traceIndex;
  const { fromBlock, toBlock } = range;
  if (order === 'asc')
    return { ...search, range: { fromBlock: Math.max(fromBlock, blockNumber + Number(isDone)), toBlock } };
  return { ...search, range: { fromBlock, toBlock: Math.min(toBlock, blockNumber - Number(isDone)) } };
}

/** Returns the last possible position before a segment, in the given order. */
const edgeBefore = (segment: number, order: Order): HistoryPosition =>
  edgeOf(order === 'asc' ? firstBlockOf(segment) - 1 : firstBlockOf(segment) + BLOCKS_PER_SEGMENT, order);
