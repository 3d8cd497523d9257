import { TRACES_PER_CHUNK } from './chunk/format.ts';
import { compareToPosition, type FramePosition } from './chunk/framePosition.ts';

/** Returns the chunk that contains the trace with this index in a block. */
export type ReadChunk = (index: number) => Uint8Array;

/** Range of trace indexes in a block, from `first` (inclusive) to `end` (exclusive). */
export interface TraceRange {
  readonly first: number;
  readonly end: number;
}

/** Returns the index of the first trace of a range at or after a position, or `end`. It is found by binary search. */
export function firstTraceFrom(
  readChunk: ReadChunk,
  { first, end }: TraceRange,
  place: FramePosition,
): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareToPosition(readChunk(middle), middle % TRACES_PER_CHUNK, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the trace at a position, or undefined if the range contains no such trace. */
export function findFrame(readChunk: ReadChunk, range: TraceRange, place: FramePosition): number | undefined {
  const index = firstTraceFrom(readChunk, range, place);
  if (index === range.end || compareToPosition(readChunk(index), index % TRACES_PER_CHUNK, place) !== 0)
    return undefined;
  return index;
}
