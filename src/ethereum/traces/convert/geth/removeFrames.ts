import type { Trace } from '../../index.ts';
import { isPrecheckError } from '../errorName.ts';

/**
 * Removes frames from a list of traces. Adjusts `traceAddress` of later siblings and their descendants, and
 * `subtraces` of parents. Only frames with a parent and without children can be removed.
 *
 * @param traces the frames of each transaction in pre-order; rewards may be at any position.
 * @param isRemoved called once for each frame with a parent and without children.
 * @returns `traces` itself if no frame was removed. Unchanged frames are not copied.
 */
export function removeFrames(traces: Trace[], isRemoved: (trace: Trace) => boolean): Trace[] {
  const removed = new Set<Trace>();
  for (const trace of traces)
    if (trace.traceAddress.length > 0 && trace.subtraces === 0 && isRemoved(trace)) removed.add(trace);
  return removed.size === 0 ? traces : renumber(traces, removed);
}

function renumber(traces: readonly Trace[], removed: ReadonlySet<Trace>): Trace[] {
  const kept: Trace[] = [];
  /** For each frame of the current path: how many of its children were removed so far, and its index in `kept`. */
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

/** Returns whether a frame failed before it ran, because of depth or balance. Parity omits such frames. */
export function isPrecheckFailure(trace: Trace): boolean {
  return trace.type !== 'reward' && isPrecheckError(trace.error);
}
