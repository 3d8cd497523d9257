/** Divides the seeding of all zones into short time slices, so that packets have priority. */

/** Length of a time slice. A packet that arrives during a time slice waits at most this time. */
const SLICE_MS = 1;
/** Pause between two time slices, so that at least half of the main thread's time remains for packets. */
const PAUSE_MS = 1;
/** Number of records between two clock reads. A clock read takes a fifth of the time that adding a record takes. */
const RECORDS_PER_CLOCK_READ = 16;

export class TimeSlices {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Resolves when the caller may run for one time slice. Callers get their time slices in turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#waiting.shift()?.();
      // The time slice runs as a microtask, so before this callback. The next pause starts after it.
      setImmediate(() => {
        this.#isScheduled = false;
        this.#schedule();
      });
    }, PAUSE_MS);
  }
}

/** Yields the records, but waits for another time slice when one is over. Calls `onTurn` at the start of each. */
export async function* inTimeSlices<T>(
  records: Iterable<T> | AsyncIterable<T>,
  turns: TimeSlices,
  onTurn: () => void,
): AsyncGenerator<T> {
  let untilMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  for await (const record of records) {
    if (count++ % RECORDS_PER_CLOCK_READ === 0 && performance.now() >= untilMs) {
      await turns.next();
      onTurn();
      untilMs = performance.now() + SLICE_MS;
    }
    yield record;
  }
}
