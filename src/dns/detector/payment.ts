/** The last fifth of a bucket is kept for names that are asked for again: new names get in, random ones do not. */
const RESERVED_SHARE = 0.2;

/** Tokens that a query has to leave in the bucket. */
export const reserveOf = (isAskedAgain: boolean, burst: number): number =>
  isAskedAgain ? 0 : burst * RESERVED_SHARE;
