/** Event loop time slice, shared by the tasks of one request. When it expires, the tasks yield to other work. */
export class TimeSlice {
  readonly #lengthMs: number;
  #endMs: number;
  #next: Promise<void> | undefined;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    this.#endMs = performance.now() + lengthMs;
  }

  get isExpired(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Resolves at the next tick of the event loop. A new time slice then starts for all tasks that wait. */
  next(): Promise<void> {
    this.#next ??= new Promise<void>((resolve) => {
      setImmediate(() => {
        this.#next = undefined;
        this.#endMs = performance.now() + this.#lengthMs;
        resolve();
      });
    });
    return this.#next;
  }
}
