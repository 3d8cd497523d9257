import type { Trace } from '../index.ts';
import { isPrecheckError } from './errorName.ts';

/**
 * Takes frames out of a list of traces and renumbers what is left: the siblings after them move up (`traceAddress`),
 * their parents count fewer children (`subtraces`). Frames without children and with a parent only.
 *
 * @param traces frames in pre-order, transaction by transaction, rewards among them or after them.
 * @param isRemoved asked once for each frame that has a parent and no children.
 * @returns the same array where nothing was taken out; a frame that does not change is the same object.
 */
export function removeFrames(traces: Trace[], isRemoved: (trace: Trace) => boolean): Trace[] {
  const removed = new Set<Trace>();
  for (const trace of traces)
    if (trace.traceAddress.length > 0 && trace.subtraces === 0 && isRemoved(trace)) removed.add(trace);
  return removed.size === 0 ? traces : renumber(traces, removed);
}

function renumber(traces: readonly Trace[], removed: ReadonlySet<Trace>): Trace[] {
  const kept: Trace[] = [];
  /** For each depth: how many children of the frame there, of those seen so far, were taken out, and where it stands in `kept`. */
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

/** Whether the frame was refused before it ran, for its depth or its creator's balance: Parity shows no such frame. */
export function isPrecheckFailure(trace: Trace): boolean {
  return trace.type !== 'reward' && isPrecheckError(trace.error);
}
