/**
 * Where in a node's answer something stands, so that an error can name it. One `Place` is made for an answer and
 * moved along: nothing is allocated for the traces that are fine.
 */
export interface Place {
  /** What the answer is made of: `trace`, `transaction`, `block header`. */
  readonly what: string;
  /** Which of them, from 0; -1 where there is only one. */
  index: number;
  /** Within a transaction's call tree: the frame. */
  path?: readonly number[];
}

/** Longest path that is spelt out, in steps: a path may have a thousand. */
const MAX_SHOWN_STEPS = 20;

/** A place in a call tree as text of bounded length: `[0,2,1]`. */
export function showPath(path: readonly number[]): string {
  return path.length <= MAX_SHOWN_STEPS ? `[${path}]` : `[${path.slice(0, MAX_SHOWN_STEPS)},...]`;
}
