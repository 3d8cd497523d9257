import { TRACES_PER_CHUNK } from './chunk/format.ts';
import { compareToPosition, type FramePosition } from './chunk/framePosition.ts';

/** Returns the chunk with trace `index` of one block. */
export type ReadChunk = (index: number) => Uint8Array;

/** Trace indexes in a block, from `first` (inclusive) to `end` (exclusive). */
export interface TraceRange {
  readonly first: number;
  readonly end: number;
}

/** Returns the index of the first trace at or after a position, or `end`. Reads a logarithmic number of chunks. */
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

/** Returns the index of the trace at a position, or undefined if the range does not contain it. */
export function findFrame(readChunk: ReadChunk, range: TraceRange, place: FramePosition): number | undefined {
  const index = firstTraceFrom(readChunk, range, place);
  if (index === range.end || compareToPosition(readChunk(index), index % TRACES_PER_CHUNK, place) !== 0)
    return undefined;
  return index;
}
