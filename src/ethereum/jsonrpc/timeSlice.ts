/** Time for which the tasks of one request may use the event loop. After that, they wait for `next`. */
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

  /** Resolves after the event loop has run other work. A new time slice then starts for all tasks that waited. */
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
