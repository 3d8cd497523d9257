import { PAGE_POSITIONS, type PostingList } from './list.ts';

/** Maximum number of cursor moves in a seek. For more, moving all cursors and rebuilding the heap is cheaper. */
const MOVES_BEFORE_REBUILD = 16;

const NO_PAGE = new Uint32Array();

/** Cursor that reads the positions of a part of one list in ascending order. */
class Cursor {
  /** Current position. It is not valid after the end of the part was reached. */
  position = 0;
  /** Number that the caller assigned to the list. */
  readonly listIndex: number;
  readonly #list: PostingList;
  readonly #end: number;
  #index: number;
  #page: Uint32Array = NO_PAGE;
  #pageStart = 0;

  /** Creates a cursor that reads a list from `index` to `end` (exclusive). */
  // biome-ignore lint/complexity/useMaxParams: called for each of up to thousands of lists; avoids a second allocation
  constructor(listIndex: number, list: PostingList, index: number, end: number) {
    this.listIndex = listIndex;
    this.#list = list;
    this.#index = index;
    this.#end = end;
  }

  get index(): number {
    return this.#index;
  }

  /** Reads the first position. Returns false if the part is empty. */
  start(): boolean {
    return this.#moveTo(this.#index);
  }

  /** Moves to the next position. Returns false if there is none. */
  next(): boolean {
    const index = this.#index + 1;
    if (index >= this.#end) return false;
    const position = this.#page[index - this.#pageStart];
    if (position === undefined) return this.#moveTo(index);
    this.#index = index;
    this.position = position;
    return true;
  }

  /**
   * Moves to the first position at or above `position`, with a galloping and then a binary search. Returns false if
   * there is none.
   */
  seek(position: number): boolean {
    const list = this.#list;
    let step = 1;
    let low = this.#index;
    while (low + step < this.#end && list.at(low + step) < position) {
      low += step;
      step *= 2;
    }
    let high = Math.min(low + step, this.#end);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (list.at(middle) < position) low = middle + 1;
      else high = middle;
    }
    return this.#moveTo(low);
  }

  #moveTo(index: number): boolean {
    if (index >= this.#end) return false;
    const pageNumber = Math.floor(index / PAGE_POSITIONS);
    this.#page = this.#list.page(pageNumber);
    this.#pageStart = pageNumber * PAGE_POSITIONS;
    this.#index = index;
    this.position = this.#list.at(index);
    return true;
  }
}

/** Parts of posting lists: of each `lists[i]`, the positions from index `indexes[i]` to `ends[i]` (exclusive). */
export interface ListParts {
  readonly lists: readonly PostingList[];
  readonly indexes: readonly number[];
  readonly ends: readonly number[];
  /** Number of `lists[0]`; the following lists have the following numbers. Default: 0. */
  readonly firstListIndex?: number;
}

/** Merges the positions of several lists in ascending order, with a binary heap of one cursor per list. */
export class MergeIterator {
  /** Cursors that have a current position; the cursor with the smallest position is first. */
  readonly #heap: Cursor[];
  readonly lists: readonly PostingList[];
  #moved: number;

  constructor({ lists, indexes, ends, firstListIndex = 0 }: ListParts) {
    this.lists = lists;
    this.#moved = lists.length;
    this.#heap = lists
      .map((list, i) => new Cursor(firstListIndex + i, list, indexes[i] ?? 0, ends[i] ?? 0))
      .filter((cursor) => cursor.start());
    this.#order();
  }

  get moved(): number {
    return this.#moved;
  }

  /** Always true: a merge needs no further steps to find its current position. */
  approach(): boolean {
    return true;
  }

  /** Returns the smallest remaining position without consuming it; undefined at the end. */
  peek(): number | undefined {
    return this.#heap[0]?.position;
  }

  /** Number of the list with the smallest remaining position. `index` is the index of this position in that list. */
  get listIndex(): number {
    return this.#heap[0]?.listIndex ?? 0;
  }

  get index(): number {
    return this.#heap[0]?.index ?? 0;
  }

  advance(): void {
    const top = this.#heap[0];
    if (top !== undefined) this.#settle(top.next());
    this.#moved++;
  }

  /** Skips all positions below `position`. */
  seek(position: number): void {
    for (let moved = 0; ; moved++) {
      const top = this.#heap[0];
      if (top === undefined || top.position >= position) return;
      if (moved === MOVES_BEFORE_REBUILD) return this.#seekAll(position);
      this.#settle(top.seek(position));
      this.#moved++;
    }
  }

  #seekAll(position: number): void {
    this.#moved += this.#heap.length;
    const alive = this.#heap.filter((cursor) => cursor.position >= position || cursor.seek(position));
    this.#heap.splice(0, this.#heap.length, ...alive);
    this.#order();
  }

  /** Restores the heap order after the top cursor moved or reached its end. */
  #settle(isAlive: boolean): void {
    if (!isAlive) {
      const last = this.#heap.pop();
      if (this.#heap.length === 0 || last === undefined) return;
      this.#heap[0] = last;
    }
    this.#sink(0);
  }

  #order(): void {
    for (let i = (this.#heap.length >>> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  #sink(start: number): void {
    const heap = this.#heap;
    const moved = heap[start];
    if (moved === undefined) return;
    let parent = start;
    for (;;) {
      let at = 2 * parent + 1;
      let child = heap[at];
      if (child === undefined) break;
      const other = heap[at + 1];
      if (other !== undefined && other.position < child.position) {
        child = other;
        at++;
      }
      if (moved.position <= child.position) break;
      heap[parent] = child;
      parent = at;
    }
    heap[parent] = moved;
  }
}
