/**
 * Where in a node's answer something stands, so that an error can name it. One `Place` is made for an answer and
 * its index moved along: nothing is allocated for the traces that are fine.
 */
export interface Place {
  /** What the answer is made of: `trace`, `transaction`, `header`. */
  readonly what: string;
  /** Which of them, from 0; -1 where there is only one. */
  index: number;
}
