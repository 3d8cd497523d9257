/**
 * Share of a bucket reserved for unknown names queried again: genuine new names are, a flood's random names are not.
 */
const RESERVED_SHARE = 0.2;

/** Tokens that a query must leave in the bucket: 0 for a name that is queried again. */
export const reserveOf = (isAskedAgain: boolean, burst: number): number =>
  isAskedAgain ? 0 : burst * RESERVED_SHARE;
