export interface SerialQueueOptions {
  /** Tasks that may wait behind the one that runs. Without a limit by default: for tasks that only we ourselves add. */
  readonly maxWaiting?: number;
}

/** More tasks wait already than the queue may hold. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';

  constructor(maxWaiting: number) {
    super(`${maxWaiting} tasks wait already, as many as may: try again when some are done`);
  }
}

/** Runs tasks one after the other, in the order in which they were added. One that fails does not hold up the next. */
export class SerialQueue {
  readonly #maxWaiting: number;
  #tail: Promise<void> = Promise.resolve();
  #pending = 0;

  constructor({ maxWaiting = Number.POSITIVE_INFINITY }: SerialQueueOptions = {}) {
    this.#maxWaiting = maxWaiting;
  }

  /** Tasks that run or wait. */
  get size(): number {
    return this.#pending;
  }

  /** Resolves or rejects as the task does. Rejects with `QueueFullError`, without running it, where too many wait. */
  run<T>(task: () => T | Promise<T>): Promise<T> {
    if (this.#pending > this.#maxWaiting) return Promise.reject(new QueueFullError(this.#maxWaiting));
    this.#pending++;
    const result = this.#tail.then(task);
    // Keeps neither the result nor the error: the tail stands for as long as the queue does.
    this.#tail = result.then(this.#finish, this.#finish);
    return result;
  }

  /** Resolves when no task runs or waits, those included that are added meanwhile. Never rejects. */
  async idle(): Promise<void> {
    while (this.#pending > 0) await this.#tail;
  }

  readonly #finish = (): void => {
    this.#pending--;
  };
}
