import {
  listOf,
  PAGE_POSITIONS,
  PostingList,
  type ReadPage,
  type RecentPostings,
} from '../../../../traces/index.ts';
import { pageKey, SIDE_AND_TERM_AT } from '../keys.ts';
import {
  lastPositionIn,
  lengthIn,
  positionsIn,
  positionsOf,
  type ReadPageBytes,
  readWords,
  united,
  wordsOf,
} from './postingPages.ts';

const NO_POSITIONS = new Uint32Array();

interface PostingSources {
  readonly read: (key: Buffer) => Uint8Array | undefined;
  readonly recent: RecentPostings | undefined;
  /** Returns the id for the posting list. Called only if the list has any position. */
  readonly newId: () => number;
}

/**
 * Returns a posting list: its positions on disk, then its positions in `recent`. The two ranges can overlap if blocks
 * were inserted between others, or if the process died during a merge. Returns undefined if the list has no position.
 */
export function openPostingList(
  key: Buffer,
  { read, recent, newId }: PostingSources,
): PostingList | undefined {
  const bytes = read(key);
  const zero = bytes === undefined ? NO_POSITIONS : wordsOf(bytes);
  const readPage: ReadPageBytes = (page) => read(pageKey(key, page));
  const added = recentPositions(recent, key);
  if (zero.length + added.length === 0) return undefined;
  if (added.length > 0 && lastPositionIn(zero, readPage) >= (added[0] ?? 0))
    return listOf(newId(), united(positionsOf(zero, readPage), added));
  const page = pagesOf(zero, readPage, added);
  return new PostingList({ id: newId(), length: lengthIn(zero) + added.length, firstPage: page(0) }, page);
}

function recentPositions(recent: RecentPostings | undefined, key: Buffer): Uint32Array {
  const list = recent?.find(key, SIDE_AND_TERM_AT);
  return list === undefined ? NO_POSITIONS : (recent?.positionsOf(list) ?? NO_POSITIONS);
}

/** Returns a function that reads pages of the stored list as if the positions `behind` were appended to the list. */
function pagesOf(zero: Uint32Array, read: ReadPageBytes, behind: Uint32Array): ReadPage {
  const stored = lengthIn(zero);
  const storedPage = (page: number): Uint32Array => {
    if (page === 0) return positionsIn(zero);
    return page * PAGE_POSITIONS < stored ? readWords(read, page) : NO_POSITIONS;
  };
  return (page) => filled(storedPage(page), behind, page * PAGE_POSITIONS - stored);
}

/**
 * Appends to the positions of a stored page those of `behind` from index `start + stored.length` on, up to a full
 * page.
 */
function filled(stored: Uint32Array, behind: Uint32Array, start: number): Uint32Array {
  if (behind.length === 0 || stored.length === PAGE_POSITIONS) return stored;
  const added = behind.subarray(start + stored.length, start + PAGE_POSITIONS);
  const page = new Uint32Array(stored.length + added.length);
  page.set(stored);
  page.set(added, stored.length);
  return page;
}
