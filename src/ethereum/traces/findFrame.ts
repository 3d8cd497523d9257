import { TRACES_PER_CHUNK } from './chunk/format.ts';
import { compareToPlace, type FramePlace } from './chunk/framePlace.ts';

/** The chunk that holds trace number `index` of one block. */
export type ReadChunk = (index: number) => Uint8Array;

/** Numbers of traces in their block: from `first` up to, not including, `end`. */
export interface TraceRange {
  readonly first: number;
  readonly end: number;
}

/**
 * The number in its block of the first trace of a range that stands at or behind a place; `end` where there is none. Reads as many chunks as halving the number of traces takes, and no trace whole.
 */
export function firstTraceFrom(readChunk: ReadChunk, { first, end }: TraceRange, place: FramePlace): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareToPlace(readChunk(middle), middle % TRACES_PER_CHUNK, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number in its block of the trace of a range that stands at a place; undefined where there is none. */
export function findFrame(readChunk: ReadChunk, range: TraceRange, place: FramePlace): number | undefined {
  const index = firstTraceFrom(readChunk, range, place);
  if (index === range.end || compareToPlace(readChunk(index), index % TRACES_PER_CHUNK, place) !== 0)
    return undefined;
  return index;
}
