import { END_OF_SEGMENT } from '../../../../traces/index.ts';
import type { TraceEnvironment } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { pageKey } from '../keys.ts';
import { appendToPage, changePages, type PageChanges } from '../postings/postingPages.ts';
import type { Writes } from './writes.ts';

/**
 * Change of a posting list: positions from `removeStart` on are removed, then `added`, which is ascending, is
 * appended.
 */
export interface ListChange {
  readonly removeStart: number;
  readonly added: ArrayLike<number>;
}

interface Dependencies {
  readonly environment: TraceEnvironment;
  readonly state: IndexState;
  readonly writes: Writes;
}

/** Returns a function that computes a change of a posting list, and adds the changed pages to `writes`. */
export function postingListChanger({ environment: { postings }, state, writes }: Dependencies) {
  return (key: Buffer, { removeStart, added }: ListChange): void => {
    if (removeStart === END_OF_SEGMENT) {
      const page = appendToPage(state.read(postings, key), added);
      if (page !== undefined) return writes.put(postings, key, page);
    }
    const read = (page: number): Buffer | undefined => state.read(postings, pageKey(key, page));
    writePages(key, changePages(read, removeStart, added), { postings, writes });
  };
}

/** Adds changed pages of a posting list to `writes`. */
export function writePages(
  key: Buffer,
  pages: PageChanges,
  { postings, writes }: Pick<TraceEnvironment, 'postings'> & Pick<Dependencies, 'writes'>,
): void {
  for (const [page, bytes] of pages)
    if (bytes === undefined) writes.delete(postings, pageKey(key, page));
    else writes.put(postings, pageKey(key, page), bytes);
}
