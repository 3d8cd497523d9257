/**
 * Share of a token bucket that most queries must leave. Preferred queries may use this reserve, for example those for a
 * name that was queried before: a genuine new name is queried again, but not a random name of a flood.
 */
const RESERVED_SHARE = 0.2;

/** Returns the number of tokens that a query must leave in the bucket: 0 if the query is preferred. */
export const reserveOf = (isPreferred: boolean, burst: number): number =>
  isPreferred ? 0 : burst * RESERVED_SHARE;
