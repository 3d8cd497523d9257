/**
 * Share of a token bucket that the first query for an unknown name must leave. Later queries for the name may use
 * this reserve: a genuine new name is queried again, but not a random name of a flood.
 */
const RESERVED_SHARE = 0.2;

/** Returns the number of tokens that a query must leave in the bucket: 0 if the name is queried again. */
export const reserveOf = (isAskedAgain: boolean, burst: number): number =>
  isAskedAgain ? 0 : burst * RESERVED_SHARE;
