/** The frames of a transaction as a tree, and the rows in which the tree is displayed. Does not use the DOM. */

import type { Trace } from '../types.ts';
import { failureOfTrace } from './describe.ts';

/** Number of levels of the tree that are visible initially. The frames of the last visible level are folded. */
const OPEN_LEVELS = 3;
/** Number of children of a frame that are shown initially. Each click on "Show more" adds as many. */
const SHOWN_CHILDREN = 20;

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

/** State of the tree: the paths of unfolded frames, and by path the number of displayed children of a frame. */
export interface Folding {
  readonly open: ReadonlySet<string>;
  readonly shown: ReadonlyMap<string, number>;
}

/** Returns the initial state of the tree: the first levels are unfolded, and the frames above the wanted frame. */
export function initialFolding(root: Frame, wanted: string | undefined): Folding {
  const open = new Set<string>();
  const shown = new Map<string, number>();
  const visit = (frame: Frame): void => {
    if (frame.depth >= OPEN_LEVELS - 1 || frame.children.length === 0) return;
    open.add(frame.path);
    for (const child of frame.children.slice(0, SHOWN_CHILDREN)) visit(child);
  };
  visit(root);
  const steps = wanted === undefined || wanted === '' ? [] : wanted.split('.');
  steps.forEach((step, i) => {
    const path = steps.slice(0, i).join('.');
    open.add(path);
    const needed = Number(step) + 1;
    if (needed > SHOWN_CHILDREN) shown.set(path, Math.ceil(needed / SHOWN_CHILDREN) * SHOWN_CHILDREN);
  });
  return { open, shown };
}

const shownChildrenOf = ({ shown }: Folding, { path, children }: Frame): number =>
  Math.min(children.length, shown.get(path) ?? SHOWN_CHILDREN);

export type Row =
  | { readonly kind: 'frame'; readonly frame: Frame; readonly place: number; readonly of: number }
  | { readonly kind: 'more'; readonly parent: Frame; readonly left: number };

export function rowsOf(root: Frame, folding: Folding): Row[] {
  const rows: Row[] = [];
  const visit = (frame: Frame, place: number, of: number): void => {
    rows.push({ kind: 'frame', frame, place, of });
    if (!folding.open.has(frame.path)) return;
    const count = shownChildrenOf(folding, frame);
    for (const [i, child] of frame.children.slice(0, count).entries())
      visit(child, i + 1, frame.children.length);
    if (count < frame.children.length)
      rows.push({ kind: 'more', parent: frame, left: frame.children.length - count });
  };
  visit(root, 1, 1);
  return rows;
}

export function fold(folding: Folding, path: string, isOpen: boolean): Folding {
  const open = new Set(folding.open);
  if (isOpen) open.add(path);
  else open.delete(path);
  return { ...folding, open };
}

export function showMore(folding: Folding, { path }: Frame): Folding {
  const shown = new Map(folding.shown);
  shown.set(path, (shown.get(path) ?? SHOWN_CHILDREN) + SHOWN_CHILDREN);
  return { ...folding, shown };
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
