/**
 * Resumes one waiting task per event loop tick, in the order of the calls of `next`. Many tasks together therefore
 * never block the thread longer than one task does.
 */
export class TickScheduler {
  readonly #waiting: (() => void)[] = [];

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#resumeNext);
    });
  }

  readonly #resumeNext = (): void => {
    this.#waiting.shift()?.();
    // If no task is waiting, the next call of `next` schedules a tick.
    if (this.#waiting.length > 0) setImmediate(this.#resumeNext);
  };
}
