import { setImmediate as afterPolling } from 'node:timers/promises';
import type { NextTurn } from '../../../traces/index.ts';

/** Minimum size of a slice, except the last one. To parse and convert it takes one to two milliseconds. */
const SLICE_BYTES = 128 * 1024;
/** Start of each trace but the first: `action` is the first key. Strings of a trace contain no unescaped quotes. */
const NEXT_TRACE = ',{"action":';

/** Yields a JSON array of traces in slices of whole traces, without its brackets. Awaits `nextTurn` between slices. */
export async function* traceSlices(
  traces: Buffer,
  nextTurn: NextTurn = afterPolling,
): AsyncGenerator<string> {
  const end = traces.length - 1;
  for (let start = 1; start < end; ) {
    if (start > 1) await nextTurn();
    const next = traces.indexOf(NEXT_TRACE, start + SLICE_BYTES, 'latin1');
    const sliceEnd = next === -1 ? end : next;
    yield traces.toString('latin1', start, sliceEnd);
    start = sliceEnd + 1;
  }
}
