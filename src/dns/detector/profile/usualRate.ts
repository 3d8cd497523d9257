/** Usual rate of a name: the number of queries in ten seconds, stored in one byte on a logarithmic scale. */

/** Counting window: short enough to detect a flood, long enough for a few resolvers that refresh at the same time. */
export const RATE_WINDOW_MS = 10_000;
/** Steps per doubling of the rate. One step is 9 %, and 255 steps reach 3.9 billion queries. */
const STEPS_PER_DOUBLING = 8;
const MAX_STEP = 255;
/** A name may be queried five times as often as usual. In thresholds, the burst is five times the rate as well. */
const USUAL_FACTOR = 5;
/** Queries per ten-second window that are always allowed: five per second cannot flood a server. */
const ALWAYS_ALLOWED_PER_WINDOW = 50;

const limits = Float64Array.from({ length: MAX_STEP + 1 }, (_, step) =>
  Math.max(ALWAYS_ALLOWED_PER_WINDOW, USUAL_FACTOR * 2 ** (step / STEPS_PER_DOUBLING)),
);

/** Maximum queries per window for a usual rate (step of the logarithmic scale). */
export const limitOf = (step: number): number => limits[step] ?? Number.POSITIVE_INFINITY;

/** Step for a number of queries per window, rounded up. */
const stepOf = (count: number): number =>
  Math.min(MAX_STEP, Math.ceil(STEPS_PER_DOUBLING * Math.log2(Math.max(1, count))));

/** Maximum first usual rate: 100 queries/s. Otherwise, a ten-second flood of an unused name would become usual. */
const MAX_FIRST_STEP = stepOf(1000);
/** Windows in which the usual rate grows by at most one step. Doubling takes at least 85 minutes. */
const WINDOWS_PER_STEP = 64;

/** Returns the usual rate (step) after window number `window` with `count` queries. */
export const learnStep = (usual: number, count: number, window: number): number => {
  const step = stepOf(count);
  if (usual === 0) return Math.min(step, MAX_FIRST_STEP);
  return step > usual && window % WINDOWS_PER_STEP === 0 ? usual + 1 : usual;
};
