/**
 * A posting list contains the ascending positions of a segment's traces with one term, for example one address as
 * sender. It is divided into pages with a fixed number of positions, so any position costs a single read. Skipping
 * 100,000 matches (`after` of trace_filter) is therefore as cheap as skipping none.
 */

/** Positions per page of a list. With its key, such a page fills half of a B-tree page of 4,096 bytes. */
export const PAGE_POSITIONS = 480;

/** Reads page `n` of a list. All pages but the last have PAGE_POSITIONS positions. */
export type ReadPage = (pageNumber: number) => Uint32Array;

/** Positions of one segment in ascending order. */
export interface Positions {
  /** Unique id of the list, used as a cache key. It stays the same while positions are only appended to the list. */
  readonly id: number;
  readonly length: number;
  /** Returns the position at `index`, which must be below `length`. */
  at(index: number): number;
}

/** Ids of posting lists are below this value. The id of a list of a block's traces is this plus the block number. */
export const END_OF_LIST_IDS = 2 ** 28;

/** What is known about a list before any page except the first is read. */
interface ListStart {
  readonly id: number;
  readonly length: number;
  /** Page 0. It is read in any case, to determine the length of the list. */
  readonly firstPage: Uint32Array;
}

export class PostingList implements Positions {
  readonly id: number;
  readonly length: number;
  readonly #readPage: ReadPage;
  /** Pages that were read so far. They are kept, because a search accesses the same pages repeatedly. */
  readonly #pages: Uint32Array[] = [];

  constructor({ id, length, firstPage }: ListStart, readPage: ReadPage) {
    this.id = id;
    this.length = length;
    this.#pages[0] = firstPage;
    this.#readPage = readPage;
  }

  at(index: number): number {
    const pageNumber = Math.floor(index / PAGE_POSITIONS);
    const position = this.page(pageNumber)[index - pageNumber * PAGE_POSITIONS];
    if (position === undefined)
      throw new Error(`posting list is damaged: no position ${index} of ${this.length}`);
    return position;
  }

  /** Returns the positions of one page. The first of them has the index `pageNumber * PAGE_POSITIONS` in the list. */
  page(pageNumber: number): Uint32Array {
    const known = this.#pages[pageNumber];
    if (known !== undefined) return known;
    const page = this.#readPage(pageNumber);
    this.#pages[pageNumber] = page;
    return page;
  }

  /** Returns all positions from `index` to the end of the list. */
  from(index: number): Uint32Array {
    const positions = new Uint32Array(Math.max(0, this.length - index));
    for (let at = index; at < this.length; ) {
      const pageNumber = Math.floor(at / PAGE_POSITIONS);
      const part = this.page(pageNumber).subarray(at - pageNumber * PAGE_POSITIONS);
      positions.set(part.subarray(0, this.length - at), at - index);
      at = (pageNumber + 1) * PAGE_POSITIONS;
    }
    return positions;
  }

  /** Returns the index of the first position at or above `position`; `length` if all positions are below. */
  lowerBound(position: number, startIndex = 0): number {
    if (startIndex >= this.length || this.at(startIndex) >= position) return startIndex;
    // A binary search over the first positions of the pages finds the page, another one the position in the page.
    let lowPage = Math.floor(startIndex / PAGE_POSITIONS);
    let endPage = Math.ceil(this.length / PAGE_POSITIONS);
    while (lowPage + 1 < endPage) {
      const middle = (lowPage + endPage) >>> 1;
      if ((this.page(middle)[0] ?? 0) < position) lowPage = middle;
      else endPage = middle;
    }
    const page = this.page(lowPage);
    const firstIndex = lowPage * PAGE_POSITIONS;
    let low = 0;
    let high = Math.min(PAGE_POSITIONS, this.length - firstIndex);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((page[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return firstIndex + low;
  }
}

/** Returns a posting list of ascending positions that are in memory. */
export function listOf(id: number, positions: Uint32Array): PostingList {
  const page = (number: number): Uint32Array =>
    positions.subarray(number * PAGE_POSITIONS, (number + 1) * PAGE_POSITIONS);
  return new PostingList({ id, length: positions.length, firstPage: page(0) }, page);
}
