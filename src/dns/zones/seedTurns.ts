/** Puts records into the profile a slice at a time, whichever zone they are of: packets come first. */

/** A packet waits no longer than this for a slice. */
const SLICE_MS = 1;
/** Between two slices: half of the thread's time at least is for packets, and all of it that seeding does not use. */
const PAUSE_MS = 1;
/** Reading the clock costs as much as a fifth of a record. */
const RECORDS_A_LOOK = 16;

export class SeedTurns {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Resolves when the caller may work for a slice. */
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
      // The slice runs before anything else does, and the pause begins behind it.
      setImmediate(() => {
        this.#isScheduled = false;
        this.#schedule();
      });
    }, PAUSE_MS);
  }
}

/** The records as they come, with a wait for a turn before each slice of them. */
export async function* inTurns<T>(
  records: Iterable<T> | AsyncIterable<T>,
  turns: SeedTurns,
  onTurn: () => void,
): AsyncGenerator<T> {
  let untilMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  for await (const record of records) {
    if (count++ % RECORDS_A_LOOK === 0 && performance.now() >= untilMs) {
      await turns.next();
      onTurn();
      untilMs = performance.now() + SLICE_MS;
    }
    yield record;
  }
}
