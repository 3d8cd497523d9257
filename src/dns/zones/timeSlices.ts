/** Adds records of all zones to the profile in short time slices, so that packets have priority. */

/** Length of a time slice, which is also the maximum time for which it delays a packet. */
const SLICE_MS = 1;
/** Pause between two time slices, so that at least half of the thread's time remains for packets. */
const PAUSE_MS = 1;
/** Number of records added between two clock reads. A clock read takes about a fifth of the time of adding a record. */
const RECORDS_PER_CLOCK_READ = 16;

export class TimeSlices {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Resolves when the caller may use one time slice. */
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
      // The caller's time slice runs first, as a microtask. The next pause starts after it.
      setImmediate(() => {
        this.#isScheduled = false;
        this.#schedule();
      });
    }, PAUSE_MS);
  }
}

/** Yields the records, in time slices. Calls `onTurn` at the start of each time slice. */
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
