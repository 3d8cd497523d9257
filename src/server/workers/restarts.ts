/** A worker's first restart has no pause, the second 100 ms. Each further pause is twice as long, up to 10 s. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 10_000;
/** After a worker ran longer than this, its next restart has no pause again. */
const LIVED_MS = 30_000;

/** Calculates the pauses before restarts, so that a worker that fails at once does not keep the machine busy. */
export class Restarts {
  /** Number of failures in a row, by worker number. */
  readonly #failures = new Map<number, number>();

  /** Returns the pause before the next start of a worker that ended after `livedMs`. */
  pauseMs(number: number, livedMs: number): number {
    const failures = livedMs > LIVED_MS ? 0 : (this.#failures.get(number) ?? 0);
    this.#failures.set(number, failures + 1);
    return failures === 0 ? 0 : Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  }
}
