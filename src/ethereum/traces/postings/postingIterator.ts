import type { PostingList } from './list.ts';
import type { MergeIterator } from './mergeIterator.ts';

/** Iterates over positions of several posting lists in ascending order. */
export interface PostingIterator {
  readonly lists: readonly PostingList[];
  /** Total number of times that cursors in lists were moved: the work done so far. */
  readonly moved: number;
  /** Makes one step towards the next position. Returns false if further steps are needed before `peek` is valid. */
  approach(): boolean;
  peek(): number | undefined;
  /** Index in `lists` of the list with the current position. `index` is the index of this position in that list. */
  readonly listIndex: number;
  readonly index: number;
  advance(): void;
}

/** Union of lists of senders and lists of recipients. A position in both is reported only for a sender's list. */
export class UnionIterator implements PostingIterator {
  readonly lists: readonly PostingList[];
  readonly #a: MergeIterator;
  readonly #b: MergeIterator;

  /** `a` merges the lists of senders, `b` those of recipients. The lists of `b` are numbered after those of `a`. */
  constructor(a: MergeIterator, b: MergeIterator) {
    this.lists = [...a.lists, ...b.lists];
    this.#a = a;
    this.#b = b;
  }

  get moved(): number {
    return this.#a.moved + this.#b.moved;
  }

  approach(): boolean {
    return true;
  }

  peek(): number | undefined {
    return this.#first().peek();
  }

  get listIndex(): number {
    return this.#first().listIndex;
  }

  get index(): number {
    return this.#first().index;
  }

  advance(): void {
    const a = this.#a.peek();
    const b = this.#b.peek();
    if (a !== undefined && (b === undefined || a <= b)) this.#a.advance();
    if (b !== undefined && (a === undefined || b <= a)) this.#b.advance();
  }

  #first(): MergeIterator {
    const a = this.#a.peek();
    const b = this.#b.peek();
    return a !== undefined && (b === undefined || a <= b) ? this.#a : this.#b;
  }
}

/** Intersection of the lists of senders and the lists of recipients. */
export class IntersectionIterator implements PostingIterator {
  readonly lists: readonly PostingList[];
  readonly #a: MergeIterator;
  readonly #b: MergeIterator;

  /** `a` merges the lists of senders, `b` those of recipients. The lists of `b` are numbered after those of `a`. */
  constructor(a: MergeIterator, b: MergeIterator) {
    this.lists = [...a.lists, ...b.lists];
    this.#a = a;
    this.#b = b;
  }

  get moved(): number {
    return this.#a.moved + this.#b.moved;
  }

  approach(): boolean {
    const a = this.#a.peek();
    const b = this.#b.peek();
    if (a === undefined || b === undefined || a === b) return true;
    if (a < b) this.#a.seek(b);
    else this.#b.seek(a);
    return false;
  }

  peek(): number | undefined {
    return this.#b.peek() === undefined ? undefined : this.#a.peek();
  }

  get listIndex(): number {
    return this.#a.listIndex;
  }

  get index(): number {
    return this.#a.index;
  }

  advance(): void {
    this.#a.advance();
    this.#b.advance();
  }
}
