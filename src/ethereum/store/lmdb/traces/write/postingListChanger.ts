import { END_OF_SEGMENT } from '../../../../traces/index.ts';
import type { TraceEnvironment } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { pageKey } from '../keys.ts';
import { appendToPage, changePages } from '../postingPages.ts';
import type { Writes } from './writes.ts';

/** Change of a list: removes the positions from `removeStart` on, then adds others, ascending. */
export interface ListChange {
  readonly removeStart: number;
  readonly added: ArrayLike<number>;
}

interface Dependencies {
  readonly environment: TraceEnvironment;
  readonly state: IndexState;
  readonly writes: Writes;
}

/** Returns a function that adds the changed pages of a list to `writes`. */
export function postingListChanger({ environment: { postings }, state, writes }: Dependencies) {
  return (key: Buffer, { removeStart, added }: ListChange): void => {
    if (removeStart === END_OF_SEGMENT) {
      const page = appendToPage(state.read(postings, key), added);
      if (page !== undefined) return writes.put(postings, key, page);
    }
    const read = (page: number): Buffer | undefined => state.read(postings, pageKey(key, page));
    for (const [page, bytes] of changePages(read, removeStart, added))
      if (bytes === undefined) writes.delete(postings, pageKey(key, page));
      else writes.put(postings, pageKey(key, page), bytes);
  };
}
