import type { Trace } from '../../index.ts';
import { isPrecheckError } from '../errorName.ts';

/**
 * Removes frames from a list of traces and renumbers the rest: later siblings move up (`traceAddress`), and parents
 * get fewer children (`subtraces`). Only frames with a parent and without children can be removed.
 *
 * @param traces frames in pre-order by transaction, with rewards at any position.
 * @param isRemoved called once for each frame with a parent and without children.
 * @returns the same array if nothing was removed; unchanged frames are the same objects.
 */
export function removeFrames(traces: Trace[], isRemoved: (trace: Trace) => boolean): Trace[] {
  const removed = new Set<Trace>();
  for (const trace of traces)
    if (trace.traceAddress.length > 0 && trace.subtraces === 0 && isRemoved(trace)) removed.add(trace);
  return removed.size === 0 ? traces : renumber(traces, removed);
}

function renumber(traces: readonly Trace[], removed: ReadonlySet<Trace>): Trace[] {
  const kept: Trace[] = [];
  /** By depth of the current path: number of children removed so far, and index of the frame in `kept`. */
  const gone: number[] = [];
  const position: number[] = [];
  for (const trace of traces) {
    const depth = trace.traceAddress.length;
    if (depth > 0 && removed.has(trace)) {
      gone[depth - 1] = (gone[depth - 1] ?? 0) + 1;
      const parent = position[depth - 1];
      const frame = parent === undefined ? undefined : kept[parent];
      if (parent !== undefined && frame) kept[parent] = { ...frame, subtraces: frame.subtraces - 1 };
      continue;
    }
    gone[depth] = 0;
    position[depth] = kept.length;
    kept.push(hasMoved(trace, gone) ? { ...trace, traceAddress: moved(trace, gone) } : trace);
  }
  return kept;
}

const hasMoved = (trace: Trace, gone: readonly number[]) =>
  trace.traceAddress.some((_, depth) => gone[depth]);

const moved = (trace: Trace, gone: readonly number[]) =>
  trace.traceAddress.map((step, depth) => step - (gone[depth] ?? 0));

/** Returns whether the frame was rejected before it ran (depth or balance). Parity omits such frames. */
export function isPrecheckFailure(trace: Trace): boolean {
  return trace.type !== 'reward' && isPrecheckError(trace.error);
}
