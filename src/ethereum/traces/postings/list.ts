/**
 * A posting list: the positions, in ascending order, of all traces of one segment with one address on one side.
 * It is kept in pages of a fixed number of positions, so that the n-th position of the longest list is one read away:
 * this is what makes `after` as cheap at 100,000 as at 0.
 */

/** Positions in a page: with its key it fills half a page of the B-tree (4,096 bytes), which then wastes nothing. */
export const PAGE_POSITIONS = 480;

/** Reads page `n` of a list, of which all but the last have PAGE_POSITIONS positions. */
export type ReadPage = (pageNumber: number) => Uint32Array;

/** Positions of one segment in ascending order. */
export interface Positions {
  /** Tells them from all others, and stays the same while they only grow; what is kept of them goes by it. */
  readonly id: number;
  readonly length: number;
  /** The position at `index`, which must be below `length`. */
  at(index: number): number;
}

/** Ids of lists are below; those of blocks, which are never in one list with them, are their numbers behind it. */
export const END_OF_LIST_IDS = 2 ** 28;

/** What is known of a list from the start. */
interface ListStart {
  readonly id: number;
  /** The positions of all pages together. */
  readonly length: number;
  /** Page 0, which is read to learn the length. */
  readonly firstPage: Uint32Array;
}

export class PostingList implements Positions {
  readonly id: number;
  readonly length: number;
  readonly #readPage: ReadPage;
  /** Pages read so far: searches come back to the same ones. */
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

  /** The positions from index `pageNumber * PAGE_POSITIONS` on, as many as a page has. */
  page(pageNumber: number): Uint32Array {
    const known = this.#pages[pageNumber];
    if (known !== undefined) return known;
    const page = this.#readPage(pageNumber);
    this.#pages[pageNumber] = page;
    return page;
  }

  /** All positions from an index on. */
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

  /** The index of the first position that is not below `position`; `length` where all are. */
  lowerBound(position: number, startIndex = 0): number {
    if (startIndex >= this.length || this.at(startIndex) >= position) return startIndex;
    // First the page, by the first position of each, then the place on it.
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

/** A list of positions that are in memory. */
export function listOf(id: number, positions: Uint32Array): PostingList {
  const page = (number: number): Uint32Array =>
    positions.subarray(number * PAGE_POSITIONS, (number + 1) * PAGE_POSITIONS);
  return new PostingList({ id, length: positions.length, firstPage: page(0) }, page);
}
