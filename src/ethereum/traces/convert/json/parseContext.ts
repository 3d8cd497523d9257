import type { Data } from '../../index.ts';

/** Current position in a node's response, for error messages. One object is reused, so valid traces allocate none. */
export interface ParseContext {
  readonly what: string;
  /** Index of the current element, for example a trace; -1 if no element of a list is being read. */
  index: number;
  /** Trace address of the current frame, if a transaction's call tree is read. */
  path?: readonly number[];
  /** The long data that was validated last, because a frame often repeats the data of the previous frame. */
  checked?: Data;
}

/** Maximum number of indices of a trace address in an error message. A trace address can have a thousand. */
const MAX_SHOWN_STEPS = 20;

/** Returns a trace address as text of bounded length, for example `[0,2,1]`. */
export function showPath(path: readonly number[]): string {
  return path.length <= MAX_SHOWN_STEPS ? `[${path}]` : `[${path.slice(0, MAX_SHOWN_STEPS)},...]`;
}
