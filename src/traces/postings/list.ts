/**
 * A posting list: the positions, in ascending order, of all traces of one segment with one address on one side.
 * It is kept in pages of a fixed number of positions, so that the n-th position of the longest list is one read away:
 * this is what makes `after` as cheap at 100,000 as at 0.
 */

/** Positions in a page: with its key it fills half a page of the B-tree (4,096 bytes), which then wastes nothing. */
export const PAGE_POSITIONS = 480;

/** Reads page `n` of a list, of which all but the last have PAGE_POSITIONS positions. */
export type ReadPage = (pageNumber: number) => Uint32Array;

export class PostingList {
  readonly length: number;
  readonly #readPage: ReadPage;
  #pageNumber = 0;
  #page: Uint32Array;

  /** `length` counts the positions of all pages; `firstPage` is page 0, which is read to learn the length. */
  constructor(length: number, firstPage: Uint32Array, readPage: ReadPage) {
    this.length = length;
    this.#page = firstPage;
    this.#readPage = readPage;
  }

  /** The position at `index`, which must be below `length`. */
  at(index: number): number {
    const pageNumber = Math.floor(index / PAGE_POSITIONS);
    if (pageNumber !== this.#pageNumber) {
      this.#page = this.#readPage(pageNumber);
      this.#pageNumber = pageNumber;
    }
    const position = this.#page[index - pageNumber * PAGE_POSITIONS];
    if (position === undefined)
      throw new Error(`posting list is damaged: no position ${index} of ${this.length}`);
    return position;
  }

  /** The index of the first position that is not below `position`; `length` where all are. */
  lowerBound(position: number, startIndex = 0): number {
    let low = startIndex;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.at(middle) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
