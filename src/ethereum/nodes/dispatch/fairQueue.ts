import { NodeError } from '../client/nodeError.ts';

/** Maximum number of calls of all clients that may wait for a node's budget. */
const MAX_WAITING = 1_024;
const MIN_TICK_MS = 5;

/** A call is rejected because the call budgets of all nodes are used up. */
export class BudgetExceededError extends NodeError {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('refused', 'the call budgets of all nodes are used up');
    this.retryAfterMs = retryAfterMs;
  }
}

interface Waiter {
  readonly client: string;
  /** Ends the wait of a call: rejects it with the error, or lets it be sent if there is no error. */
  readonly settle: (error?: BudgetExceededError) => void;
}

export interface FairQueueOptions {
  readonly waitMs: number;
  /** Number of calls that the nodes' budgets allow now; if that is 0, milliseconds until they allow the next call. */
  readonly callsLeft: () => number;
  readonly untilNextMs: () => number;
  /** Leases more calls from the process that owns the nodes' budgets. Default: this process owns them. */
  readonly lease?: () => void;
}

/** Queue of calls that wait for a node's budget. Clients take turns, so one with many calls delays only itself. */
export class FairQueue {
  readonly #options: FairQueueOptions;
  /** Waiting calls by client. The map's order is the order of turns: the first client sends the next call. */
  readonly #queues = new Map<string, Waiter[]>();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  get isAnyWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** Resolves when a client may send a call; undefined if it may send it now. Rejects with BudgetExceededError. */
  acquire(client: string): Promise<void> | undefined {
    const { callsLeft, waitMs } = this.#options;
    if (this.#waiting === 0 && callsLeft() >= 1) return undefined;
    if (waitMs === 0 || !this.#admit(client)) return Promise.reject(this.#exceeded());
    return new Promise((resolve, reject) => {
      const turn: Waiter = {
        client,
        settle: (error) => {
          clearTimeout(timeout);
          this.#remove(turn);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const timeout = setTimeout(() => turn.settle(this.#exceeded()), waitMs);
      const queue = this.#queues.get(client);
      if (queue === undefined) this.#queues.set(client, [turn]);
      else queue.push(turn);
      this.#waiting++;
      this.#schedule();
    });
  }

  /** Returns true if a call may wait. A full queue first rejects the last call of the client with the most calls. */
  #admit(client: string): boolean {
    if (this.#waiting < MAX_WAITING) return true;
    let longest: Waiter[] = [];
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue;
    if ((this.#queues.get(client)?.length ?? 0) + 1 >= longest.length) return false;
    longest.at(-1)?.settle(this.#exceeded());
    return true;
  }

  #remove(turn: Waiter): void {
    const queue = this.#queues.get(turn.client);
    const place = queue?.indexOf(turn) ?? -1;
    if (queue === undefined || place === -1) return;
    queue.splice(place, 1);
    this.#waiting--;
    if (queue.length === 0) this.#queues.delete(turn.client);
  }

  #schedule(): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#options.lease?.();
        this.#grant();
        if (this.#waiting > 0) this.#schedule();
      },
      Math.max(MIN_TICK_MS, this.#options.untilNextMs()),
    );
  }

  #grant(): void {
    for (let left = this.#options.callsLeft(); left >= 1 && this.#waiting > 0; left--) {
      const [next] = this.#queues;
      if (next === undefined) return;
      const [client, queue] = next;
      queue[0]?.settle();
      if (queue.length === 0) continue;
      // This client has had its turn, so it moves to the end of the order.
      this.#queues.delete(client);
      this.#queues.set(client, queue);
    }
  }

  #exceeded(): BudgetExceededError {
    return new BudgetExceededError(this.#options.untilNextMs());
  }
}
