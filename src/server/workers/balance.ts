/** Nobody waits for a worker that is less busy than this. */
const BUSY = 0.25;
/** As much as the busiest may have more to do than the others. */
const TOLERATED = 0.25;
/** More at once would only move the crowd. */
const MAX_SHARE = 0.5;

/**
 * Which share of its clients each worker is to let go of, so that all have as much to do: the system gives a new connection to whichever worker is
 * awake first, and that has it for as long as its client keeps it.
 *
 * `busy` is how much of the time each had something to do, 0 to 1.
 */
export function sharesToShed(busy: readonly number[]): number[] {
  const mean = busy.reduce((sum, one) => sum + one, 0) / busy.length;
  const least = Math.min(...busy);
  return busy.map((own) =>
    own > BUSY && own > mean && own - least > TOLERATED ? Math.min(MAX_SHARE, (own - mean) / own) : 0,
  );
}
