import { END_OF_SEGMENT } from '../position.ts';
import { PAGE_POSITIONS, type PostingList } from '../postings/list.ts';
import type { Order } from './query.ts';

/** Range of positions in a segment, from `start` (inclusive) to `end` (exclusive). */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** A posting list, or an array with all of its positions if they are few. */
export type WalkedList = PostingList | Uint32Array;

/** Reads the positions of a part of one list, ascending or descending, page by page. */
class ListCursor {
  position = 0;
  readonly listIndex: number;
  readonly #list: WalkedList;
  readonly #step: 1 | -1;
  #pageNumber: number;
  #page: Uint32Array;
  #at: number;
  /** Number of positions to read, including the current position. */
  #left: number;

  /** Reads the first position of a part, or the last one if `step` is -1. The part must not be empty. */
  constructor(listIndex: number, list: WalkedList, { first, end, step }: Part) {
    this.listIndex = listIndex;
    this.#list = list;
    this.#step = step;
    this.#left = end - first;
    const index = step === 1 ? first : end - 1;
    this.#pageNumber = Math.floor(index / PAGE_POSITIONS);
    this.#page = this.#read();
    this.#at = index - this.#pageNumber * PAGE_POSITIONS;
    this.position = this.#page[this.#at] ?? 0;
  }

  /** Moves to the next position. Returns false if there is none. */
  next(): boolean {
    if (--this.#left === 0) return false;
    this.#at += this.#step;
    if (this.#at < 0 || this.#at >= this.#page.length) {
      this.#pageNumber += this.#step;
      this.#page = this.#read();
      this.#at = this.#step === 1 ? 0 : this.#page.length - 1;
    }
    this.position = this.#page[this.#at] ?? 0;
    return true;
  }

  #read(): Uint32Array {
    return this.#list instanceof Uint32Array ? this.#list : this.#list.page(this.#pageNumber);
  }
}

interface Part {
  readonly first: number;
  readonly end: number;
  readonly step: 1 | -1;
}

/** Merges the positions of several lists without duplicates. Lists are few, so each step compares all of them. */
export class ListWalk {
  readonly #ways: ListCursor[] = [];
  readonly #step: 1 | -1;
  #here: ListCursor | undefined;

  constructor(lists: readonly WalkedList[], { start, end }: Window, order: Order) {
    this.#step = order === 'asc' ? 1 : -1;
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i];
      if (list === undefined) continue;
      const first = start === 0 ? 0 : lowerBound(list, start);
      const last = end === END_OF_SEGMENT ? list.length : lowerBound(list, end);
      if (first < last) this.#ways.push(new ListCursor(i, list, { first, end: last, step: this.#step }));
    }
    this.#settle();
  }

  get position(): number | undefined {
    return this.#here?.position;
  }

  isIn(listIndex: number): boolean {
    return this.#ways.some((way) => way.listIndex === listIndex && way.position === this.#here?.position);
  }

  advance(): void {
    const ways = this.#ways;
    const position = this.#here?.position;
    for (let i = ways.length - 1; i >= 0; i--) {
      const way = ways[i];
      if (way !== undefined && way.position === position && !way.next()) ways.splice(i, 1);
    }
    this.#settle();
  }

  #settle(): void {
    const ways = this.#ways;
    let here = ways[0];
    for (let i = 1; here !== undefined && i < ways.length; i++) {
      const way = ways[i];
      if (way !== undefined && (way.position - here.position) * this.#step < 0) here = way;
    }
    this.#here = here;
  }
}

/** Returns the index of the first position at or above `position`; the length of the list if there is none. */
function lowerBound(list: WalkedList, position: number): number {
  if (!(list instanceof Uint32Array)) return list.lowerBound(position);
  let index = 0;
  while (index < list.length && (list[index] ?? 0) < position) index++;
  return index;
}
