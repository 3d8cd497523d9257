/** The frames of a transaction as a tree, and the rows in which the tree is displayed. Does not use the DOM. */

import type { Trace } from '../types.ts';
import { failureOfTrace } from './describe.ts';

/** Levels of the tree are unfolded initially until they have this many rows. The root is always unfolded. */
const OPEN_ROWS = 200;
/** Maximum number of rows after "Unfold all". Preact needs about a second to compare more rows. */
export const MAX_ROWS = 10_000;

export interface Frame {
  /** Child indexes on the way from the root: `0.2` is the third child of the root's first child, `''` is the root. */
  readonly path: string;
  readonly depth: number;
  readonly trace: Trace;
  readonly children: Frame[];
  /** Whether a frame above this one failed, which reverted this frame too. */
  readonly isUndone: boolean;
}

export function treeOf(traces: readonly Trace[]): Frame | undefined {
  const frames = new Map<string, Frame>();
  for (const trace of traces) {
    const path = trace.traceAddress.join('.');
    const caller = path === '' ? undefined : frames.get(trace.traceAddress.slice(0, -1).join('.'));
    const isUndone = caller !== undefined && (caller.isUndone || failureOfTrace(caller.trace) !== undefined);
    const frame: Frame = { path, depth: trace.traceAddress.length, trace, children: [], isUndone };
    frames.set(path, frame);
    caller?.children.push(frame);
  }
  return frames.get('');
}

export type Open = ReadonlySet<string>;

/** Returns the initial state: unfolded levels, and the frames above the wanted frame and above the cause of a failure. */
export function initiallyOpen(root: Frame, wanted: string | undefined): Open {
  const open = new Set<string>();
  let rows = 1;
  for (let level = [root]; level.length > 0; ) {
    const next = level.flatMap(({ children }) => children);
    rows += next.length;
    if (level[0] !== root && rows > OPEN_ROWS) break;
    for (const { path, children } of level) if (children.length > 0) open.add(path);
    level = next;
  }
  const steps = wanted === undefined || wanted === '' ? [] : wanted.split('.');
  for (const i of steps.keys()) open.add(steps.slice(0, i).join('.'));
  // The last failed call of a failed frame is the likely cause.
  for (let cause: Frame | undefined = root; cause !== undefined && hasFailed(cause); ) {
    const next: Frame | undefined = cause.children.findLast(hasFailed);
    if (next !== undefined) open.add(cause.path);
    cause = next;
  }
  return open;
}

const hasFailed = ({ trace }: Frame): boolean => failureOfTrace(trace) !== undefined;

/** Unfolds frames in the order of the tree, as long as the rows do not exceed the maximum. */
export function allOpen(root: Frame, maxRows = MAX_ROWS): { readonly open: Open; readonly rows: number } {
  const open = new Set<string>();
  let rows = 1;
  const waiting = [root];
  for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
    if (frame.children.length === 0 || rows + frame.children.length > maxRows) continue;
    open.add(frame.path);
    rows += frame.children.length;
    waiting.push(...frame.children.toReversed());
  }
  return { open, rows };
}

/** A visible row: a frame, and its position among the children of its caller. */
export interface Row {
  readonly frame: Frame;
  readonly place: number;
  readonly of: number;
}

export function rowsOf(root: Frame, open: Open): Row[] {
  const rows: Row[] = [];
  const visit = (frame: Frame, place: number, of: number): void => {
    rows.push({ frame, place, of });
    if (open.has(frame.path))
      for (const [i, child] of frame.children.entries()) visit(child, i + 1, frame.children.length);
  };
  visit(root, 1, 1);
  return rows;
}

export function fold(open: Open, path: string, isOpen: boolean): Open {
  const changed = new Set(open);
  if (isOpen) changed.add(path);
  else changed.delete(path);
  return changed;
}

/** Counts the frames below a frame, and those of them that failed themselves. */
export function countBelow({ children }: Frame): { readonly frames: number; readonly failed: number } {
  let frames = 0;
  let failed = 0;
  const waiting = [...children];
  for (let frame = waiting.pop(); frame !== undefined; frame = waiting.pop()) {
    frames++;
    if (failureOfTrace(frame.trace) !== undefined) failed++;
    waiting.push(...frame.children);
  }
  return { frames, failed };
}
