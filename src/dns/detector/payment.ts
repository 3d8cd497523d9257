/**
 * Share of a bucket that is reserved for unknown names that are queried again. Clients query a genuine new name
 * again, but not the random names of a flood.
 */
const RESERVED_SHARE = 0.2;

/** Tokens that a query must leave in the bucket: 0 for a name that is queried again. */
export const reserveOf = (isAskedAgain: boolean, burst: number): number =>
  isAskedAgain ? 0 : burst * RESERVED_SHARE;
