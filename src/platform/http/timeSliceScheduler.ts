/** Time for which deferred tasks may run per event loop iteration. A single step of a task may exceed it. */
const SLICE_MS = 0.5;

export interface ScheduledTask {
  runSlice(): void;
}

/** Runs deferred tasks in small steps, round robin, after the I/O of each event loop iteration. */
export class TimeSliceScheduler {
  readonly #waiting = new Set<ScheduledTask>();
  #isScheduled = false;

  add(work: ScheduledTask): void {
    this.#waiting.add(work);
    this.#schedule();
  }

  delete(work: ScheduledTask): void {
    this.#waiting.delete(work);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    this.#isScheduled = false;
    const endMs = performance.now() + SLICE_MS;
    // Tasks that are added during this loop are appended to the set and also run.
    for (const work of this.#waiting) {
      this.#waiting.delete(work);
      work.runSlice();
      if (performance.now() >= endMs) break;
    }
    if (this.#waiting.size > 0) this.#schedule();
  };
}
