import { termOf } from '../indexBlock.ts';
import { BLOCKS_PER_SEGMENT, END_OF_SEGMENT, firstBlockOf, positionOf, segmentOf } from '../position.ts';
import type { PostingList } from '../postings/list.ts';
import type { PostingTerm } from '../store.ts';
import type { Address } from '../trace.ts';
import { ListWalk, type WalkedList, type Window } from './listWalk.ts';
import type { AddressSide, BlockRange, Direction, HistoryPosition, Order } from './query.ts';
import { COST, type FoundSegment, type HistoryReader, type Terms, type WorkBudget } from './reader.ts';

/** What to search for, and in which blocks and order. */
export interface Search<T extends Terms = Terms> {
  readonly terms: T;
  readonly direction: Direction;
  /** Indexes in TRACE_TYPES of the types of traces to find. */
  readonly types: readonly number[];
  readonly range: BlockRange;
  readonly order: Order;
  readonly cursor?: HistoryPosition;
}

export const termsOf = (addresses: readonly Address[]): PostingTerm[] => [...new Set(addresses)].map(termOf);

/** Posting lists of one segment: those of some addresses as senders (`from`) and as recipients (`to`). */
export interface SegmentLists {
  readonly segment: number;
  readonly from: readonly WalkedList[];
  readonly to: readonly WalkedList[];
}

/**
 * Yields each segment that has a posting list for the search. When the work budget is used up, yields the segment to
 * continue with (`goOnWith`) and ends. This is never the first segment, so every query makes progress.
 */
export function* listsOf(
  reader: HistoryReader,
  search: Search,
  work: WorkBudget,
): Generator<SegmentLists | { readonly goOnWith: number }> {
  const { terms, direction, types, order, range } = search;
  const first = segmentOf(range.fromBlock);
  const last = segmentOf(range.toBlock);
  const opened = (found: FoundSegment, side: AddressSide): WalkedList[] => {
    const lists: WalkedList[] = [];
    for (const list of found[side]) {
      if (typeof list === 'string') work.spend(COST.list);
      const open = typeof list === 'string' ? reader.postings(found.segment, side, list) : list;
      if (open !== undefined) lists.push(open);
    }
    return lists;
  };
  let isFirst = true;
  for (const found of reader.segmentsWith({ terms, direction, types, first, last, order }, work)) {
    const { segment } = found;
    if (work.isExhausted && !isFirst) {
      yield { goOnWith: segment };
      return;
    }
    isFirst = false;
    const lists =
      terms === 'all'
        ? { segment, from: allTraces(reader, segment, work), to: [] }
        : { segment, from: opened(found, 'from'), to: opened(found, 'to') };
    if (lists.from.length + lists.to.length > 0) yield lists;
  }
}

function allTraces(reader: HistoryReader, segment: number, work: WorkBudget): PostingList[] {
  work.spend(COST.list);
  const list = reader.allTraces(segment);
  return list === undefined ? [] : [list];
}

/** Returns an iterator over the positions in a segment's lists that are in the search's range, after its cursor. */
export function walkOf({ segment, from, to }: SegmentLists, search: Search): ListWalk {
  return new ListWalk(to.length === 0 ? from : [...from, ...to], windowOf(segment, search), search.order);
}

function windowOf(segment: number, { range, order, cursor }: Search): Window {
  const first = firstBlockOf(segment);
  const { fromBlock, toBlock } = range;
  let start = fromBlock <= first ? 0 : positionOf(fromBlock, 0);
  let end = toBlock >= first + BLOCKS_PER_SEGMENT - 1 ? END_OF_SEGMENT : positionOf(toBlock + 1, 0);
  if (cursor !== undefined && segmentOf(cursor.blockNumber) === segment) {
    const position = positionOf(cursor.blockNumber, cursor.traceIndex);
    if (order === 'asc') start = Math.max(start, position + 1);
    else end = Math.min(end, position);
  }
  return { start, end };
}
