import type { PostingList } from '../postings/list.ts';
import type { Order } from './query.ts';

/** Positions from `start` (inclusive) to `end` (exclusive). */
export interface Window {
  readonly start: number;
  readonly end: number;
}

/** A list on its way through a window. */
interface Way {
  readonly list: PostingList;
  readonly listIndex: number;
  index: number;
  /** The index behind the last, in the order of the walk. */
  readonly endIndex: number;
  position: number;
}

/**
 * Goes over the positions of several lists of one segment, in either order. A position that several lists have comes once. The lists
 * are few, so each is looked at for every step.
 */
export class ListWalk {
  readonly lists: readonly PostingList[];
  readonly #ways: Way[] = [];
  readonly #step: 1 | -1;
  #here: Way | undefined;

  constructor(lists: readonly PostingList[], window: Window, order: Order) {
    this.lists = lists;
    this.#step = order === 'asc' ? 1 : -1;
    lists.forEach((list, listIndex) => {
      const first = list.lowerBound(window.start);
      const end = list.lowerBound(window.end, first);
      if (first === end) return;
      const [index, endIndex] = order === 'asc' ? [first, end] : [end - 1, first - 1];
      this.#ways.push({ list, listIndex, index, endIndex, position: list.at(index) });
    });
    this.#settle();
  }

  /** The position that it stands at; undefined at its end. */
  get position(): number | undefined {
    return this.#here?.position;
  }

  /** The number of a list that the position stands in, and its index there. */
  get listIndex(): number {
    return this.#here?.listIndex ?? 0;
  }

  get index(): number {
    return this.#here?.index ?? 0;
  }

  /** Whether list number `listIndex` has the position. */
  isIn(listIndex: number): boolean {
    return this.#ways.some((way) => way.listIndex === listIndex && way.position === this.#here?.position);
  }

  advance(): void {
    const position = this.#here?.position;
    const ways = this.#ways;
    for (let i = ways.length - 1; i >= 0; i--) {
      const way = ways[i];
      if (way === undefined || way.position !== position) continue;
      way.index += this.#step;
      if (way.index === way.endIndex) ways.splice(i, 1);
      else way.position = way.list.at(way.index);
    }
    this.#settle();
  }

  #settle(): void {
    let here: Way | undefined;
    for (const way of this.#ways)
      if (here === undefined || (way.position - here.position) * this.#step < 0) here = way;
    this.#here = here;
  }
}
