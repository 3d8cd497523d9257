/** Pauses before a worker that died is started again: none the first time, then doubled each time, until one has lived for a while. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 10_000;
const LIVED_MS = 30_000;

/** Workers that are started again: one that dies at once must not keep the machine busy. */
export class Restarts {
  /** Times in a row that the worker of a place has ended soon, or could not start. */
  readonly #failures = new Map<number, number>();

  /** The worker of a place has ended. Answers how long to wait before the next. */
  pauseMs(place: number, livedMs: number): number {
    const failures = livedMs > LIVED_MS ? 0 : (this.#failures.get(place) ?? 0);
    this.#failures.set(place, failures + 1);
    return failures === 0 ? 0 : Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  }
}
