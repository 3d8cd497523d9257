import { PAGE_POSITIONS, type PostingList } from './list.ts';

/** Lists moved one by one through the heap by a seek, before it is cheaper to move all and order the heap anew. */
const MOVES_BEFORE_REBUILD = 16;

const NO_PAGE = new Uint32Array();

/** A place in a list, which moves forward. */
class Cursor {
  /** The position here; not to be looked at once the end is reached. */
  position = 0;
  /** The number of the list, as its user counts. */
  readonly listIndex: number;
  readonly #list: PostingList;
  readonly #end: number;
  #index: number;
  #page: Uint32Array = NO_PAGE;
  #pageStart = 0;

  /** Stands at `index` of the list, which is read up to, not including, `end`. */
  // biome-ignore lint/complexity/useMaxParams: called for each of up to thousands of lists: no second object is made
  constructor(listIndex: number, list: PostingList, index: number, end: number) {
    this.listIndex = listIndex;
    this.#list = list;
    this.#index = index;
    this.#end = end;
  }

  get index(): number {
    return this.#index;
  }

  /** Takes up the place that it was given; false at the end. */
  start(): boolean {
    return this.#moveTo(this.#index);
  }

  /** False at the end. */
  next(): boolean {
    const index = this.#index + 1;
    if (index >= this.#end) return false;
    const position = this.#page[index - this.#pageStart];
    if (position === undefined) return this.#moveTo(index);
    this.#index = index;
    this.position = position;
    return true;
  }

  /** Moves to the first position that is not below this one, in doubling steps and then by halves; false at the end. */
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

/** Parts of lists: `lists[i]` from `indexes[i]` up to, not including, `ends[i]`. */
export interface ListParts {
  readonly lists: readonly PostingList[];
  readonly indexes: readonly number[];
  readonly ends: readonly number[];
  /** The number of the first list, as its user counts; 0 where left out. */
  readonly firstListIndex?: number;
}

/** The positions of several lists in ascending order: a binary heap of cursors, smallest position on top. */
export class MergeIterator {
  /** The cursors that are not at their end. */
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

  /** How often a list was moved on, since the beginning. */
  get moved(): number {
    return this.#moved;
  }

  /** It always stands at the next position. */
  approach(): boolean {
    return true;
  }

  /** The smallest position that is left, without taking it. */
  peek(): number | undefined {
    return this.#heap[0]?.position;
  }

  /** The list that the smallest position stands in, and where. */
  get listIndex(): number {
    return this.#heap[0]?.listIndex ?? 0;
  }

  get index(): number {
    return this.#heap[0]?.index ?? 0;
  }

  /** Passes over the smallest position that is left. */
  advance(): void {
    const top = this.#heap[0];
    if (top !== undefined) this.#settle(top.next());
    this.#moved++;
  }

  /** Passes over all positions below `position`. */
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

  /** Puts the heap in order after the cursor on top has moved, or has come to its end. */
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
