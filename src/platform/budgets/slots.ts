import { Budget, type BudgetClient, type BudgetLimits } from './budget.ts';

interface Waiter {
  readonly client: BudgetClient;
  /** Runs the task. Undefined after it has started. */
  start: (() => void) | undefined;
}

/** Limits how many tasks run at the same time, per client and in total. Further tasks wait; clients take turns. */
export class Slots {
  readonly #budget: Budget;
  /** Waiting tasks of each client. The client that was served last is at the end. */
  readonly #waiting = new Map<string, Set<Waiter>>();

  #isStarting = false;

  constructor(limits: BudgetLimits) {
    this.#budget = new Budget(limits);
  }

  /** Calls `start` when a slot is free. The returned function ends the task, even before it started. */
  take(client: BudgetClient, start: (end: () => void) => void): () => void {
    const name = `${client.address} ${client.keyId ?? ''}`;
    let isEnded = false;
    const end = (): void => {
      if (isEnded) return;
      isEnded = true;
      if (waiter.start !== undefined) return this.#remove(name, waiter);
      this.#budget.release(client, 1);
      this.#startWaiting();
    };
    const waiter: Waiter = { client, start: () => start(end) };
    const queue = this.#waiting.get(name);
    if (queue !== undefined) queue.add(waiter);
    else if (this.isFreeFor(client)) this.#start(waiter);
    else this.#waiting.set(name, new Set([waiter]));
    return end;
  }

  /** Runs work of a client when a slot is free, and returns its result. */
  async run<T>(client: BudgetClient, work: () => Promise<T>): Promise<T> {
    const end = await new Promise<() => void>((resolve) => {
      this.take(client, resolve);
    });
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Returns true if a task of the client would start at once, unless other tasks of the client wait. */
  isFreeFor(client: BudgetClient): boolean {
    return this.#budget.exceededBy(client, 1) === undefined;
  }

  #start(waiter: Waiter): void {
    const { client, start } = waiter;
    this.#budget.charge(client, 1);
    waiter.start = undefined;
    start?.();
  }

  #startWaiting(): void {
    // A task may end before `start` returns. It then must not start others, so that calls do not nest.
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) this.#start(next);
    } finally {
      this.#isStarting = false;
    }
  }

  /** Removes and returns a task that may start; undefined if there is none. */
  #next(): Waiter | undefined {
    for (const [name, queue] of this.#waiting) {
      const [next] = queue;
      if (next === undefined || !this.isFreeFor(next.client)) continue;
      this.#remove(name, next);
      if (this.#waiting.delete(name)) this.#waiting.set(name, queue);
      return next;
    }
    return undefined;
  }

  #remove(name: string, waiter: Waiter): void {
    const queue = this.#waiting.get(name);
    queue?.delete(waiter);
    if (queue?.size === 0) this.#waiting.delete(name);
  }
}
