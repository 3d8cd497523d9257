import type { Data } from '../../index.ts';

/** Position in a node's response, for errors. One mutable object per response, so valid traces cost no allocation. */
export interface ParseContext {
  readonly what: string;
  /** Index of the element; -1 if there is only one. */
  index: number;
  /** Trace address of the frame in a transaction's call tree. */
  path?: readonly number[];
  /** Long data that was validated last; a frame often repeats the data of the previous one. */
  checked?: Data;
}

/** Maximum number of indices shown; a path may have a thousand. */
const MAX_SHOWN_STEPS = 20;

/** Returns a trace address as text of bounded length: `[0,2,1]`. */
export function showPath(path: readonly number[]): string {
  return path.length <= MAX_SHOWN_STEPS ? `[${path}]` : `[${path.slice(0, MAX_SHOWN_STEPS)},...]`;
}
