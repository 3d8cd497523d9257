import { END_OF_SEGMENT } from '../../../../traces/index.ts';
import { STATE_KEY, type TraceEnvironment, UNMERGED_KEY } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { postingKeyOf } from '../keys.ts';
import { encodeUnmerged, encodeVersion } from '../records.ts';
import { postingListChanger } from './postingListChanger.ts';
import { Writes } from './writes.ts';

/**
 * Number of posting lists that one transaction of a merge changes: about 2 MB of pages. Preparing these changes
 * blocks the thread for 10 ms.
 */
export const LISTS_PER_MERGE = 4096;

/**
 * Merges the postings of a segment's recent blocks into its posting lists on disk. Each step changes the next
 * `listsPerStep` lists in key order. No list is in two steps, so a step can be prepared while the previous one is
 * being written. Steps must be written in order, with no other write in between.
 *
 * An interrupted merge neither loses nor duplicates postings: until the last step the blocks count as unmerged, and
 * readers and the next merge ignore positions that a list on disk already has.
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
