/**
 * Query types (first note) and query counter (second note) of a known name, used by all threads. The layout of the
 * first note is defined in entry.ts.
 */
import { typeBit } from '../../protocol/index.ts';
import type { NameTable } from './nameTable.ts';
import { learnStep, limitOf, RATE_WINDOW_MS } from './usualRate.ts';

/**
 * Maximum query count. Layout of the second note: number of queries in one window (16 bits) | usual rate (8 bits) |
 * number of this window modulo 256 (8 bits).
 */
const MAX_COUNT = 0xffff;

export const hasType = (names: NameTable, place: number, type: number): boolean =>
  ((names.firstNote(place) >>> 16) & typeBit(type)) !== 0;

/** Counts a query for the name in slot `place`. Returns whether the name exceeds the limit for its usual rate. */
// biome-ignore lint/complexity/useMaxParams: called for each packet: no object is allocated
export function noteQuery(names: NameTable, place: number, nowMs: number, learning: boolean): boolean {
  const window = Math.floor(nowMs / RATE_WINDOW_MS) & 0xff;
  for (;;) {
    const note = names.secondNote(place);
    let count = note >>> 16;
    let usual = (note >>> 8) & 0xff;
    if ((note & 0xff) === window) count = Math.min(MAX_COUNT, count + 1);
    else {
      if (learning && count > 0) usual = learnStep(usual, count, note & 0xff);
      count = 1;
    }
    const next = ((count << 16) | (usual << 8) | window) >>> 0;
    if (names.replaceSecondNote(place, note, next)) return count > limitOf(usual);
  }
}
