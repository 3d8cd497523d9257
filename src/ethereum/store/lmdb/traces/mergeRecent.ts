import { END_OF_SEGMENT } from '../../../traces/index.ts';
import { STATE_KEY, type TraceEnvironment, UNMERGED_KEY } from './environment.ts';
import type { IndexState } from './indexState.ts';
import { postingKeyOf } from './keys.ts';
import { postingListChanger } from './postingListChanger.ts';
import { encodeUnmerged, encodeVersion } from './records.ts';
import { Writes } from './writes.ts';

/**
 * Lists that are written in one transaction: it holds in memory every page that it touches, some 2 MB of them, and working
 * them out takes 10 ms, in which nobody is answered.
 */
export const LISTS_PER_MERGE = 4096;

/**
 * Puts the postings of a segment's recent blocks into its lists on disk, some lists at a time, in the order in which they
 * lie there. No two steps touch the same list, so the next may be worked out while one is being written; they must be
 * written in their order, and nothing else between them.
 *
 * Wherever this is broken off, nothing is lost or doubled: until the last step the blocks count as unmerged, and a list that
 * has a position already is not given it again, by who reads it and by the next merge.
 */
export function* mergeRecent(
  { segment, listsPerStep }: { readonly segment: number; readonly listsPerStep: number },
  { environment, state }: { readonly environment: TraceEnvironment; readonly state: IndexState },
): Generator<Writes> {
  const recent = state.recent.of(segment);
  const lists = recent?.inOrder() ?? new Uint32Array();
  let { changes, rewrites } = state.refreshSnapshot();
  for (let next = 0; next === 0 || next < lists.length; next += listsPerStep) {
    const writes = new Writes();
    const changeList = postingListChanger({ environment, state, writes });
    writes.put(environment.meta, STATE_KEY, encodeVersion({ changes: ++changes, rewrites }));
    for (const list of lists.subarray(next, next + listsPerStep)) {
      if (recent === undefined) break;
      const key = postingKeyOf(segment, recent.keyOf(list));
      const added = recent.positionsOf(list);
      if (added.length > 0) changeList(key, { removeStart: END_OF_SEGMENT, added });
    }
    if (next + listsPerStep >= lists.length) {
      const left = state.unmerged().filter((blocks) => blocks.segment !== segment);
      writes.put(environment.meta, UNMERGED_KEY, encodeUnmerged(left));
    }
    yield writes;
  }
}
