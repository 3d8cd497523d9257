import { PAGE_POSITIONS } from '../../../traces/index.ts';

/**
 * The pages of a posting list. Page 0 starts with the number of positions of the whole list; positions follow, 32 bits
 * each, PAGE_POSITIONS on every page but the last.
 */

/** How page `pageNumber` is read; undefined where it does not exist. The bytes are used before the next read. */
export type ReadPageBytes = (pageNumber: number) => Uint8Array | undefined;

/** Pages to write (bytes) or to remove (undefined) by their number. */
export type PageChanges = Map<number, Buffer | undefined>;

const LENGTH_WORDS = 1;

/** A page's words: for page 0 its first word is the list's length. Copied, as engines reuse their buffers. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(bytes.byteLength >>> 2);
  new Uint8Array(words.buffer).set(bytes.subarray(0, words.byteLength));
  return words;
}

export const lengthIn = (pageZero: Uint32Array): number => pageZero[0] ?? 0;

export const positionsIn = (pageNumber: number, words: Uint32Array): Uint32Array =>
  pageNumber === 0 ? words.subarray(LENGTH_WORDS) : words;

/**
 * What changes when positions from `removeStart` up to, not including, `removeEnd` are taken out and `added` (ascending)
 * are put in. Adding behind the last position, which is what a growing chain does, touches the first and last page only.
 */
export function changePages(
  read: ReadPageBytes,
  removeStart: number,
  removeEnd: number,
  added: readonly number[],
): PageChanges {
  const zero = read(0);
  const zeroWords = zero === undefined ? new Uint32Array([0]) : wordsOf(zero);
  const oldLength = lengthIn(zeroWords);
  const page = (n: number): Uint32Array => {
    if (n === 0) return positionsIn(0, zeroWords);
    const bytes = read(n);
    if (bytes === undefined) throw new Error(`posting list is damaged: page ${n} is missing`);
    return wordsOf(bytes);
  };
  const oldPages = pagesOf(oldLength);

  // The last page alone where all that changes lies behind its first position, else the whole list.
  const lastPage = Math.max(0, oldPages - 1);
  const last = oldPages === 0 ? new Uint32Array() : page(lastPage);
  const lowest = Math.min(removeStart < removeEnd ? removeStart : Infinity, added[0] ?? Infinity);
  const fromPage = lowest > (last[0] ?? -1) ? lastPage : 0;

  const kept: number[] = [];
  for (let n = fromPage; n < oldPages; n++)
    for (const position of n === lastPage ? last : page(n))
      if (position < removeStart || position >= removeEnd) kept.push(position);

  const positions = mergeAscending(kept, added);
  const newLength = fromPage * PAGE_POSITIONS + positions.length;
  const changes: PageChanges = new Map();
  for (let n = fromPage; n < pagesOf(newLength); n++) {
    const start = (n - fromPage) * PAGE_POSITIONS;
    changes.set(n, encodePage(n, newLength, positions.slice(start, start + PAGE_POSITIONS)));
  }
  for (let n = pagesOf(newLength); n < oldPages; n++) changes.set(n, undefined);
  if (fromPage > 0 && newLength !== oldLength)
    changes.set(0, encodePage(0, newLength, [...positionsIn(0, zeroWords)]));
  return changes;
}

const pagesOf = (length: number): number => Math.ceil(length / PAGE_POSITIONS);

function encodePage(pageNumber: number, listLength: number, positions: readonly number[]): Buffer {
  const words = Uint32Array.from(pageNumber === 0 ? [listLength, ...positions] : positions);
  return Buffer.from(words.buffer);
}

/** Both ascending lists as one, without the positions that stand in both twice. */
function mergeAscending(a: readonly number[], b: readonly number[]): number[] {
  const lastOfA = a.at(-1);
  if (lastOfA === undefined || b.length === 0 || lastOfA < (b[0] ?? 0)) return [...a, ...b];
  return [...new Set([...a, ...b])].sort((x, y) => x - y);
}
