import type { PostingList } from './list.ts';

/** Lists moved one by one through the heap by a seek, before it is cheaper to move all and order the heap anew. */
const MOVES_BEFORE_REBUILD = 16;

/** The positions of several lists in ascending order: a binary heap of cursors, smallest position on top. */
export class Merge {
  readonly #lists: readonly PostingList[];
  readonly #indexes: number[];
  readonly #ends: readonly number[];
  /** Numbers of the lists that are not exhausted, as a heap by their current positions. */
  readonly #heap: number[] = [];
  readonly #positions: number[];

  /** List `i` is read from `indexes[i]` up to, not including, `ends[i]`. */
  constructor(lists: readonly PostingList[], indexes: readonly number[], ends: readonly number[]) {
    this.#lists = lists;
    this.#indexes = [...indexes];
    this.#ends = ends;
    this.#positions = new Array(lists.length).fill(0);
    for (let i = 0; i < lists.length; i++) if (this.#load(i)) this.#heap.push(i);
    this.#order();
  }

  /** The smallest position that is left, without taking it. */
  peek(): number | undefined {
    const top = this.#heap[0];
    return top === undefined ? undefined : this.#positions[top];
  }

  /** Takes the smallest position that is left. */
  next(): number | undefined {
    const top = this.#heap[0];
    if (top === undefined) return undefined;
    const position = this.#positions[top];
    this.#indexes[top] = this.#indexAt(top) + 1;
    if (this.#load(top)) this.#sink(0);
    else this.#dropTop();
    return position;
  }

  /** Passes over all positions below `position`; returns the smallest that is left, without taking it. */
  seek(position: number): number | undefined {
    for (let moved = 0; ; moved++) {
      const current = this.peek();
      if (current === undefined || current >= position) return current;
      if (moved === MOVES_BEFORE_REBUILD) return this.#seekAll(position);
      const top = this.#heap[0] ?? 0;
      if (this.#advance(top, position)) this.#sink(0);
      else this.#dropTop();
    }
  }

  #seekAll(position: number): number | undefined {
    const alive = this.#heap.filter(
      (i) => (this.#positions[i] ?? 0) >= position || this.#advance(i, position),
    );
    this.#heap.splice(0, this.#heap.length, ...alive);
    this.#order();
    return this.peek();
  }

  /** Moves list `i` to its first position that is not below `position`; false where it has none. */
  #advance(i: number, position: number): boolean {
    this.#indexes[i] = gallop(this.#listAt(i), position, this.#indexAt(i), this.#endAt(i));
    return this.#load(i);
  }

  #load(i: number): boolean {
    const index = this.#indexAt(i);
    if (index >= this.#endAt(i)) return false;
    this.#positions[i] = this.#listAt(i).at(index);
    return true;
  }

  #dropTop(): void {
    const last = this.#heap.pop();
    if (this.#heap.length === 0 || last === undefined) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #order(): void {
    for (let i = (this.#heap.length >>> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  #sink(start: number): void {
    const heap = this.#heap;
    const moved = heap[start] ?? 0;
    const rank = this.#positions[moved] ?? 0;
    let parent = start;
    for (let child = 2 * parent + 1; child < heap.length; child = 2 * parent + 1) {
      if (child + 1 < heap.length && this.#rank(child + 1) < this.#rank(child)) child++;
      if (rank <= this.#rank(child)) break;
      heap[parent] = heap[child] ?? 0;
      parent = child;
    }
    heap[parent] = moved;
  }

  #rank(heapIndex: number): number {
    return this.#positions[this.#heap[heapIndex] ?? 0] ?? 0;
  }

  #listAt(i: number): PostingList {
    const list = this.#lists[i];
    if (list === undefined) throw new Error(`merge has no list ${i}`);
    return list;
  }

  #indexAt(i: number): number {
    return this.#indexes[i] ?? 0;
  }

  #endAt(i: number): number {
    return this.#ends[i] ?? 0;
  }
}

/** The first index from `start` whose position is not below `position`: doubling steps, then a binary search. */
function gallop(list: PostingList, position: number, start: number, end: number): number {
  let step = 1;
  let low = start;
  while (low + step < end && list.at(low + step) < position) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, end);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list.at(middle) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}
