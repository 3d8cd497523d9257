export interface SerialQueueOptions {
  /** Maximum number of waiting tasks, without the running one. Default: no limit, for internal callers. */
  readonly maxWaiting?: number;
}

export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';

  constructor(maxWaiting: number) {
    super(`the queue is full (${maxWaiting} waiting tasks); try again later`);
  }
}

/** Runs tasks one after the other, in the order of run() calls. A failed task does not affect later ones. */
export class SerialQueue {
  readonly #maxWaiting: number;
  #tail: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor({ maxWaiting = Number.POSITIVE_INFINITY }: SerialQueueOptions = {}) {
    this.#maxWaiting = maxWaiting;
  }

  /** Number of running and waiting tasks. */
  get size(): number {
    return this.#pending;
  }

  /**
   * Runs a task after all earlier ones, and settles with its result. If the queue is full, rejects with
   * `QueueFullError` and does not run the task.
   */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    if (this.#pending > this.#maxWaiting) return Promise.reject(new QueueFullError(this.#maxWaiting));
    this.#pending++;
    const result = this.#tail.then(task);
    // The stored promise must not retain the result or the error of a task for the life of the queue.
    this.#tail = result.then(this.#finish, this.#finish);
    return result;
  }

  /** Resolves when no task runs or waits. Also waits for tasks that are added meanwhile. Never rejects. */
  async idle(): Promise<void> {
    while (this.#pending > 0) await this.#tail;
  }

  readonly #finish = (): void => {
    this.#pending--;
  };
}
