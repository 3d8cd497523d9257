/** How often one name is usually asked for: queries in ten seconds, kept in a byte on a logarithmic scale. */

/** Short enough to see a flood of one name, long enough that a few resolvers refreshing together are no flood. */
export const RATE_WINDOW_MS = 10_000;
/** Eight steps a doubling: each is 9 %, and 255 of them reach past four thousand million. */
const STEPS_PER_DOUBLING = 8;
const MAX_STEP = 255;
/** A name may be asked for five times as often as usual: the same tolerance as burst over rate. */
const USUAL_FACTOR = 5;
/** And five times a second always: below that a name floods nobody. */
const ALWAYS_ALLOWED_PER_WINDOW = 50;

const limits = Float64Array.from({ length: MAX_STEP + 1 }, (_, step) =>
  Math.max(ALWAYS_ALLOWED_PER_WINDOW, USUAL_FACTOR * 2 ** (step / STEPS_PER_DOUBLING)),
);

/** Queries a window that a name with this usual rate may have before it is beyond it. */
export const limitOf = (step: number): number => limits[step] ?? Number.POSITIVE_INFINITY;

/** The step for a count of queries in a window, rounded up. */
const stepOf = (count: number): number =>
  Math.min(MAX_STEP, Math.ceil(STEPS_PER_DOUBLING * Math.log2(Math.max(1, count))));

/**
 * The first window counts as it is up to a hundred queries a second. Whoever floods a name that nobody asks for else shall not
 * say in ten seconds what is usual.
 */
const MAX_FIRST_STEP = stepOf(1000);
/** One window of so many lets the usual rate grow: twice as much takes 85 minutes at least. */
const WINDOWS_PER_STEP = 64;

/** The usual rate after window number `window` with `count` queries. It grows by one step at a time, and not in every window. */
export const learnStep = (usual: number, count: number, window: number): number => {
  const step = stepOf(count);
  if (usual === 0) return Math.min(step, MAX_FIRST_STEP);
  return step > usual && window % WINDOWS_PER_STEP === 0 ? usual + 1 : usual;
};
