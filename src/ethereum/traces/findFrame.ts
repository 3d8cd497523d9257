import { TRACES_PER_CHUNK } from './chunk/format.ts';
import { compareToPlace, type FramePlace } from './chunk/framePlace.ts';

/** The chunk that holds trace number `index` of one block. */
export type ReadChunk = (index: number) => Uint8Array;

/**
 * The number in its block of the first trace that stands at or behind a place, of those from `first` up to, not including,
 * `end`; `end` where there is none. Reads as many chunks as halving the number of traces takes, and no trace whole.
 */
export function firstTraceFrom(readChunk: ReadChunk, first: number, end: number, place: FramePlace): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareToPlace(readChunk(middle), middle % TRACES_PER_CHUNK, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The number in its block of the trace that stands at a place; undefined where there is none. */
export function findFrame(
  readChunk: ReadChunk,
  first: number,
  end: number,
  place: FramePlace,
): number | undefined {
  const index = firstTraceFrom(readChunk, first, end, place);
  if (index === end || compareToPlace(readChunk(index), index % TRACES_PER_CHUNK, place) !== 0)
    return undefined;
  return index;
}
