import {
  BLOCKS_PER_SEGMENT,
  firstBlockOf,
  PAGE_POSITIONS,
  PostingList,
  positionOf,
  type TraceCounts,
} from '../../../traces/index.ts';

/** Returns a posting list of all traces of a segment. Its pages are computed from the trace counts of the blocks. */
export function allTracesOf(
  segment: number,
  { counts, newId }: { readonly counts: TraceCounts; readonly newId: () => number },
): PostingList | undefined {
  const length = counts.before(BLOCKS_PER_SEGMENT);
  if (length === 0) return undefined;
  const firstBlock = firstBlockOf(segment);
  const page = (pageNumber: number): Uint32Array => {
    const first = pageNumber * PAGE_POSITIONS;
    const positions = new Uint32Array(Math.min(PAGE_POSITIONS, length - first));
    let offset = blockWith(counts, first);
    for (let i = 0; i < positions.length; i++) {
      while (counts.before(offset + 1) <= first + i) offset++;
      positions[i] = positionOf(firstBlock + offset, first + i - counts.before(offset));
    }
    return positions;
  };
  return new PostingList({ id: newId(), length, firstPage: page(0) }, page);
}

/** Returns the offset, within a segment, of the block that contains trace number `index` of the segment. */
function blockWith(counts: TraceCounts, index: number): number {
  let [low, high] = [0, BLOCKS_PER_SEGMENT - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (counts.before(middle + 1) <= index) low = middle + 1;
    else high = middle;
  }
  return low;
}
