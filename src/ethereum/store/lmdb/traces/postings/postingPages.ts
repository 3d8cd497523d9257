import { PAGE_POSITIONS } from '../../../../traces/index.ts';
import { DamagedIndexError } from '../damagedIndexError.ts';

/**
 * A posting list is stored in pages of PAGE_POSITIONS 32-bit positions. If a list has several pages, the number of
 * its positions follows the positions of page 0.
 */

const WORD_BYTES = 4;

/** Reads a page. Returns undefined if the page does not exist. The next read may overwrite the bytes. */
export type ReadPageBytes = (pageNumber: number) => Uint8Array | undefined;

/** Changed pages of a posting list, by page number. A page is removed if its bytes are undefined. */
export type PageChanges = Array<readonly [pageNumber: number, bytes: Buffer | undefined]>;

/** Returns a copy of a stored page as 32-bit words. A copy is needed because LMDB reuses its read buffer. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(bytes.byteLength >>> 2);
  new Uint8Array(words.buffer).set(bytes);
  return words;
}

const hasMorePages = (pageZero: Uint32Array): boolean => pageZero.length > PAGE_POSITIONS;

export const lengthIn = (pageZero: Uint32Array): number =>
  hasMorePages(pageZero) ? (pageZero[PAGE_POSITIONS] ?? 0) : pageZero.length;

/** Returns the last position of a posting list, or -1 if the list is empty. */
export function lastPositionIn(pageZero: Uint32Array, read: ReadPageBytes): number {
  const lastPage = pagesOf(lengthIn(pageZero)) - 1;
  if (lastPage < 0) return -1;
  return (lastPage === 0 ? positionsIn(pageZero) : readWords(read, lastPage)).at(-1) ?? -1;
}

export function positionsOf(pageZero: Uint32Array, read: ReadPageBytes): Uint32Array {
  const pages = [positionsIn(pageZero)];
  for (let n = 1; n < pagesOf(lengthIn(pageZero)); n++) pages.push(readWords(read, n));
  return joined(pages);
}

export const positionsIn = (pageZero: Uint32Array): Uint32Array =>
  hasMorePages(pageZero) ? pageZero.subarray(0, PAGE_POSITIONS) : pageZero;

/**
 * Appends positions to a posting list that has one page or none, as most lists do. Returns undefined if the positions
 * do not fit or are not behind the others; `changePages` must then be used.
 */
export function appendToPage(page: Uint8Array | undefined, added: ArrayLike<number>): Buffer | undefined {
  const oldBytes = page?.length ?? 0;
  const length = oldBytes / WORD_BYTES + added.length;
  if (length > PAGE_POSITIONS) return undefined;
  const bytes = Buffer.allocUnsafe(length * WORD_BYTES);
  if (page !== undefined) bytes.set(page);
  if (oldBytes > 0 && bytes.readUInt32LE(oldBytes - WORD_BYTES) >= (added[0] ?? Infinity)) return undefined;
  for (let i = 0; i < added.length; i++) bytes.writeUInt32LE(added[i] ?? 0, oldBytes + i * WORD_BYTES);
  return bytes;
}

/**
 * Removes all positions from `removeStart` on from a posting list, then adds `added`, which is ascending. Returns the
 * changed pages. An append, as in a growing chain, changes only page 0 and the pages at the end.
 */
export function changePages(read: ReadPageBytes, removeStart: number, added: ArrayLike<number>): PageChanges {
  const zeroBytes = read(0);
  if (zeroBytes === undefined) return pagesFrom(0, Uint32Array.from(added), NO_PAGE);

  const zero = wordsOf(zeroBytes);
  const page = (n: number): Uint32Array => (n === 0 ? positionsIn(zero) : readWords(read, n));
  const oldPages = pagesOf(lengthIn(zero));

  // If all changes are after the first position of the last page, only positions of that page change. Otherwise the
  // whole list is written again.
  const last = page(oldPages - 1);
  const lastPosition = last.at(-1) ?? -1;
  if (added.length === 0 && removeStart > lastPosition) return [];
  const lowest = Math.min(removeStart, added[0] ?? Infinity);
  const firstPage = lowest > (last[0] ?? -1) ? oldPages - 1 : 0;

  const kept = [];
  for (let n = firstPage; n < oldPages; n++)
    kept.push(before(n === oldPages - 1 ? last : page(n), removeStart));
  return pagesFrom(firstPage, united(joined(kept), added), zero);
}

const NO_PAGE = new Uint32Array();

const pagesOf = (length: number): number => Math.ceil(length / PAGE_POSITIONS);

export function readWords(read: ReadPageBytes, pageNumber: number): Uint32Array {
  const bytes = read(pageNumber);
  if (bytes === undefined) throw new DamagedIndexError(`page ${pageNumber} of a posting list is missing`);
  return wordsOf(bytes);
}

/**
 * Returns the changes that store `positions` in the pages from `firstPage` on. `oldZero` is page 0 before the change.
 */
function pagesFrom(firstPage: number, positions: Uint32Array, oldZero: Uint32Array): PageChanges {
  const length = firstPage * PAGE_POSITIONS + positions.length;
  const pages = pagesOf(length);
  const changes: PageChanges = [];
  for (let n = firstPage; n < pages; n++) {
    const start = (n - firstPage) * PAGE_POSITIONS;
    const part = positions.subarray(start, start + PAGE_POSITIONS);
    changes.push([n, n === 0 ? encodeZero(part, length) : encode(part)]);
  }
  for (let n = pages; n < pagesOf(lengthIn(oldZero)); n++) changes.push([n, undefined]);
  if (firstPage > 0) changes.push([0, encodeZero(positionsIn(oldZero), length)]);
  return changes;
}

function encodeZero(positions: Uint32Array, listLength: number): Buffer {
  if (listLength <= PAGE_POSITIONS) return encode(positions);
  const words = new Uint32Array(PAGE_POSITIONS + 1);
  words.set(positions);
  words[PAGE_POSITIONS] = listLength;
  return encode(words);
}

function encode(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength);
}

function before(positions: Uint32Array, end: number): Uint32Array {
  return (positions.at(-1) ?? 0) < end ? positions : positions.filter((position) => position < end);
}

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Returns the union of two ascending lists, ascending and without duplicates. */
export function united(kept: Uint32Array, added: ArrayLike<number>): Uint32Array {
  const all = new Uint32Array(kept.length + added.length);
  all.set(kept);
  all.set(added, kept.length);
  const isAppended = (kept.at(-1) ?? -1) < (added[0] ?? Infinity);
  return isAppended ? all : Uint32Array.from(new Set(all.sort()));
}
