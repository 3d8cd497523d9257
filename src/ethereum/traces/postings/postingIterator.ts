import type { PostingList } from './list.ts';
import type { MergeIterator } from './mergeIterator.ts';

/** Goes over ascending positions. */
export interface PostingIterator {
  readonly lists: readonly PostingList[];
  /** How often a list was moved on, since the beginning. */
  readonly moved: number;
  /** Comes nearer to the next position; false where it does not stand at it yet, nor at its end. */
  approach(): boolean;
  /** The position that it stands at; undefined at its end. */
  peek(): number | undefined;
  /** The number of the list that the position is from, among `lists`, and its index there. */
  readonly listIndex: number;
  readonly index: number;
  advance(): void;
}

/** The positions of either side; one that is in both is taken from the first. */
export class UnionIterator implements PostingIterator {
  readonly lists: readonly PostingList[];
  readonly #a: MergeIterator;
  readonly #b: MergeIterator;

  /** The lists of `b` are numbered behind those of `a`. */
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

/** The positions of both sides. */
export class IntersectionIterator implements PostingIterator {
  readonly lists: readonly PostingList[];
  readonly #a: MergeIterator;
  readonly #b: MergeIterator;

  /** The lists of `b` are numbered behind those of `a`. */
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
