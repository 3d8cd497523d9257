/** The usual rate of a name: a number of queries in ten seconds, stored in one byte on a logarithmic scale (step). */

/**
 * Length of the window in which queries are counted: short enough to detect a flood, and long enough that a few
 * resolvers that refresh a name at the same time do not look like a flood.
 */
export const RATE_WINDOW_MS = 10_000;
/** Number of steps by which the rate doubles. One step is 9 %, and 255 steps are 3.9 billion queries. */
const STEPS_PER_DOUBLING = 8;
const MAX_STEP = 255;
/** A name may be queried five times as often as usual. The burst of a threshold is also five times its rate. */
const USUAL_FACTOR = 5;
/** Number of queries per ten-second window that are always allowed: five per second cannot flood a server. */
const ALWAYS_ALLOWED_PER_WINDOW = 50;

const limits = Float64Array.from({ length: MAX_STEP + 1 }, (_, step) =>
  Math.max(ALWAYS_ALLOWED_PER_WINDOW, USUAL_FACTOR * 2 ** (step / STEPS_PER_DOUBLING)),
);

/** Returns the maximum number of queries per window for a name with this usual rate (step). */
export const limitOf = (step: number): number => limits[step] ?? Number.POSITIVE_INFINITY;

/** Returns the step for a number of queries per window, rounded up. */
const stepOf = (count: number): number =>
  Math.min(MAX_STEP, Math.ceil(STEPS_PER_DOUBLING * Math.log2(Math.max(1, count))));

/**
 * Maximum of the usual rate after a name's first window: 100 queries per second. Without it, ten seconds of a flood
 * would set the usual rate of an unused name.
 */
export const MAX_FIRST_STEP = stepOf(1000);
/** Number of windows in which the usual rate grows by at most one step. Doubling takes at least 85 minutes. */
const WINDOWS_PER_STEP = 64;

/** Returns the new usual rate (step) of a name after `count` queries in the window with the number `window`. */
export const learnStep = (usual: number, count: number, window: number): number => {
  const step = stepOf(count);
  if (usual === 0) return Math.min(step, MAX_FIRST_STEP);
  return step > usual && window % WINDOWS_PER_STEP === 0 ? usual + 1 : usual;
};
