/** What several that work on one thing may take of a turn of the event loop together. */
export class SharedTurn {
  readonly #lengthMs: number;
  #endMs: number;
  #next: Promise<void> | undefined;

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    this.#endMs = performance.now() + lengthMs;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Resolves in the next turn, which begins for all that wait for it. */
  next(): Promise<void> {
    this.#next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#next = undefined;
      this.#endMs = performance.now() + this.#lengthMs;
    });
    return this.#next;
  }
}
