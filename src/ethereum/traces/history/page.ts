import {
  BLOCKS_PER_SEGMENT,
  blockAt,
  firstBlockOf,
  MAX_TRACES_PER_BLOCK,
  traceIndexAt,
} from '../position.ts';
import type { ListWalk } from './listWalk.ts';
import {
  type BlockRange,
  BlockReplacedError,
  type HistoryPage,
  type HistoryPlace,
  type HistoryQuery,
  type Order,
} from './query.ts';
import { type HistoryReader, WorkLeft } from './reader.ts';
import { listsOf, type Search, type SegmentLists, termsOf, walkOf } from './segments.ts';
import { TraceTest } from './traceTest.ts';

/** Ranges of missing blocks that a page tells: where there are more of them it ends there. */
export const MAX_MISSING_RANGES = 1_000;

/**
 * Takes traces of one segment in the order of the page; returns how many of them there was room for, which is none only where others
 * were taken before.
 */
export type TakeTraces = (segment: number, positions: readonly number[]) => number;

/**
 * A page of a history. It takes as long as the page is large and as there are segments in which the addresses have traces, and
 * ends early, with a place to go on from, where a bound of work is reached.
 */
export function readHistory(reader: HistoryReader, query: HistoryQuery, take: TakeTraces): HistoryPage {
  const range = settledRange(reader, query);
  const { order, behind } = query;
  checkPlace(reader, behind);
  // Blocks that no page before has gone over; the block of its place it has.
  const ahead = behind === undefined ? range : aheadOf(range, behind, order);
  const missing = reader.missing(ahead, order, MAX_MISSING_RANGES);
  const bound = missing.toldUpTo;
  const terms = query.addresses === 'all' ? query.addresses : termsOf(query.addresses);
  const within = bound === undefined ? range : upTo(range, bound, order);
  const search: Search = {
    terms,
    direction: query.direction,
    range: within,
    order,
    ...(behind && { behind }),
  };
  const reached = isEmpty(afterPlace(search)) ? undefined : new PageWalk(reader, query, search).run(take);
  const next = reached ?? (bound === undefined ? undefined : edgeOf(bound, order));
  const covered = next === undefined ? ahead : upTo(ahead, next.blockNumber, order);
  return { range, next: next && withHash(reader, next), missing: clipped(missing.ranges, covered) };
}

/** Goes over the traces of a search until the page is full. */
class PageWalk {
  readonly #reader: HistoryReader;
  readonly #search: Search;
  readonly #work = new WorkLeft();
  readonly #test: TraceTest;
  #left: number;
  #last: HistoryPlace | undefined;

  constructor(reader: HistoryReader, { filter, limit }: HistoryQuery, search: Search) {
    this.#reader = reader;
    this.#search = search;
    this.#test = new TraceTest(filter, reader, this.#work);
    this.#left = limit;
  }

  /** Where it ended; undefined where there is nothing behind. */
  run(take: TakeTraces): HistoryPlace | undefined {
    const { order } = this.#search;
    for (const lists of listsOf(this.#reader, afterPlace(this.#search), this.#work)) {
      // All before this segment was looked at; so was that of a page that is full.
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

  /** What passes of a segment, until the page is full or the work is over, and the place that was looked at last. */
  #collect(walk: ListWalk, { segment }: SegmentLists): { positions: number[]; place: HistoryPlace } {
    const positions: number[] = [];
    let [last, looked] = [0, 0];
    for (
      let position = walk.position;
      position !== undefined && positions.length < this.#left;
      position = walk.position
    ) {
      // One at the least, so that whoever goes on gets on.
      if (looked++ > 0 && this.#work.isOver) break;
      this.#work.spend(1);
      last = position;
      if (this.#test.passes(blockAt(segment, position), traceIndexAt(position))) positions.push(position);
      walk.advance();
    }
    return { positions, place: placeAt(segment, last) };
  }
}

const placeAt = (segment: number, position: number): HistoryPlace => ({
  blockNumber: blockAt(segment, position),
  traceIndex: traceIndexAt(position),
});

/** A range whose bounds are known: from the lowest block of the index, where nothing else is said. */
export function settledRange(
  reader: HistoryReader,
  { fromBlock, toBlock }: Pick<HistoryQuery, 'fromBlock' | 'toBlock'>,
): BlockRange {
  return { fromBlock: fromBlock ?? Math.min(reader.firstBlock() ?? toBlock, toBlock), toBlock };
}

function checkPlace(reader: HistoryReader, place: HistoryPlace | undefined): void {
  if (place?.blockHash === undefined) return;
  if (reader.block(place.blockNumber)?.hash !== place.blockHash)
    throw new BlockReplacedError(place.blockNumber);
}

function withHash(reader: HistoryReader, { blockNumber, traceIndex }: HistoryPlace): HistoryPlace {
  const hash = reader.block(blockNumber)?.hash;
  return { blockNumber, traceIndex, ...(hash !== undefined && { blockHash: hash }) };
}

const isEmpty = ({ range }: Search): boolean => range.fromBlock > range.toBlock;

/** The part of a range behind a block in an order, without that block. */
const aheadOf = (
  { fromBlock, toBlock }: BlockRange,
  { blockNumber }: HistoryPlace,
  order: Order,
): BlockRange =>
  order === 'asc'
    ? { fromBlock: Math.max(fromBlock, blockNumber + 1), toBlock }
    : { fromBlock, toBlock: Math.min(toBlock, blockNumber - 1) };

/** The part of a range up to a block in an order, that block included. */
const upTo = ({ fromBlock, toBlock }: BlockRange, blockNumber: number, order: Order): BlockRange =>
  order === 'asc'
    ? { fromBlock, toBlock: Math.min(toBlock, blockNumber) }
    : { fromBlock: Math.max(fromBlock, blockNumber), toBlock };

/** The same search, without the blocks that were gone over; that of its place it is done with where nothing stands behind. */
function afterPlace(search: Search): Search {
  const { behind, range, order } = search;
  if (behind === undefined) return search;
  const { blockNumber, traceIndex } = behind;
  const isDone = traceIndex === edgeOf(blockNumber, order).traceIndex;
  const { fromBlock, toBlock } = range;
  if (order === 'asc')
    return { ...search, range: { fromBlock: Math.max(fromBlock, blockNumber + Number(isDone)), toBlock } };
  return { ...search, range: { fromBlock, toBlock: Math.min(toBlock, blockNumber - Number(isDone)) } };
}

/** The last place of a block in an order. */
const edgeOf = (blockNumber: number, order: Order): HistoryPlace => ({
  blockNumber,
  traceIndex: order === 'asc' ? MAX_TRACES_PER_BLOCK - 1 : 0,
});

/** The last place before a segment, in an order. */
const edgeBefore = (segment: number, order: Order): HistoryPlace =>
  edgeOf(order === 'asc' ? firstBlockOf(segment) - 1 : firstBlockOf(segment) + BLOCKS_PER_SEGMENT, order);

/** The parts of ranges that lie in another. */
function clipped(ranges: readonly BlockRange[], { fromBlock, toBlock }: BlockRange): BlockRange[] {
  return ranges
    .map((range) => ({
      fromBlock: Math.max(range.fromBlock, fromBlock),
      toBlock: Math.min(range.toBlock, toBlock),
    }))
    .filter((range) => range.fromBlock <= range.toBlock);
}
