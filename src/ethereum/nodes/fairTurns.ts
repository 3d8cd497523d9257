import { NodeError } from './nodeError.ts';

/** Requests that wait for a budget at most: of all clients together. */
const MAX_WAITING = 1_024;
const MIN_TICK_MS = 5;

/** No node may be asked for more now: all budgets are used up. */
export class BudgetExceededError extends NodeError {
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('refused', 'no node may take more calls now');
    this.retryAfterMs = retryAfterMs;
  }
}

interface Turn {
  readonly client: string;
  /** Undefined for its turn, an error where it has none. */
  readonly over: (error?: BudgetExceededError) => void;
}

export interface FairTurnsOptions {
  readonly waitMs: number;
  /** How many calls the nodes may take now, and after how many milliseconds one more where that is none. */
  readonly callsLeft: () => number;
  readonly untilNextMs: () => number;
  /** Has more leased for those that wait; left out: there is none to be had. */
  readonly lease?: () => void;
}

/** Lets clients' calls through as budgets allow, one of each client in turn: whoever asks for much waits behind themselves. */
export class FairTurns {
  readonly #options: FairTurnsOptions;
  /** What waits, by client; the first client is the next. */
  readonly #queues = new Map<string, Turn[]>();
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FairTurnsOptions) {
    this.#options = options;
  }

  get isAnyWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** Resolves when it is a client's turn; undefined where it is now. Rejects with BudgetExceededError. */
  turn(client: string): Promise<void> | undefined {
    const { callsLeft, waitMs } = this.#options;
    if (this.#waiting === 0 && callsLeft() >= 1) return undefined;
    if (waitMs === 0 || !this.#makeRoom(client)) return Promise.reject(this.#exceeded());
    return new Promise((resolve, reject) => {
      const turn: Turn = {
        client,
        over: (error) => {
          clearTimeout(timeout);
          this.#remove(turn);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      const timeout = setTimeout(() => turn.over(this.#exceeded()), waitMs);
      const queue = this.#queues.get(client);
      if (queue === undefined) this.#queues.set(client, [turn]);
      else queue.push(turn);
      this.#waiting++;
      this.#schedule();
    });
  }

  /** Whether one more of a client may wait: where all places are taken, whoever waits most often gives one up. */
  #makeRoom(client: string): boolean {
    if (this.#waiting < MAX_WAITING) return true;
    let longest: Turn[] = [];
    for (const queue of this.#queues.values()) if (queue.length > longest.length) longest = queue;
    if ((this.#queues.get(client)?.length ?? 0) + 1 >= longest.length) return false;
    longest.at(-1)?.over(this.#exceeded());
    return true;
  }

  #remove(turn: Turn): void {
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
      queue[0]?.over();
      if (queue.length === 0) continue;
      // To the end: the others are first now.
      this.#queues.delete(client);
      this.#queues.set(client, queue);
    }
  }

  #exceeded(): BudgetExceededError {
    return new BudgetExceededError(this.#options.untilNextMs());
  }
}
