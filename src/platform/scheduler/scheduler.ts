import { Budget, type BudgetClient } from '../budgets/index.ts';

/** Time after which waiting work lets the event loop poll for I/O. A single task may exceed it. */
const SLICE_MS = 2;
/** Minimum turn of a client. With fewer waiting clients, turns are longer, so that each slice serves several clients. */
const MIN_TURN_MS = 0.2;
/** Processor time counts for one to two of these windows. */
const WINDOW_MS = 500;
const MICROSECONDS_PER_MS = 1_000;

export interface Clock {
  nowMs(): number;
  /** Processor time of the process in microseconds. */
  usedMicroseconds(): number;
}

const CLOCK: Clock = {
  nowMs: () => performance.now(),
  usedMicroseconds() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};

interface Queue {
  readonly client: BudgetClient;
  readonly tasks: (() => void)[];
  /** Processor time of the client, in shares. */
  weight: number;
}

interface Use {
  readonly client: BudgetClient;
  microseconds: number;
}

/**
 * Divides the processor time of a process among its clients. Work runs at once while no other work waits. Otherwise,
 * the client that used the least time in the last second runs next. Only time for which another client waited counts.
 * Between time slices of 2 ms, I/O is polled and a connection is accepted.
 */
export class Scheduler {
  readonly #clock: Clock;
  /** Counts microseconds, because sums of integers leave no rest when they are released. */
  readonly #used = new Budget({ perClient: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY });
  #recent = new Map<string, Use>();
  #earlier = new Map<string, Use>();
  #windowEndMs = 0;
  readonly #waiting = new Map<string, Queue>();
  #isScheduled = false;
  #sliceMs = 0;
  /** The client whose turn it is. */
  #current: BudgetClient | undefined;
  #turnStartMs = 0;
  #turnMs = 0;
  /** Processor time of the process at the start of the slice. */
  #sliceStartMicroseconds = 0;

  constructor(clock = CLOCK) {
    this.#clock = clock;
  }

  /** Whether the current turn has ended. The running work should then wait for its next turn. */
  get isExpired(): boolean {
    return this.#current === undefined
      ? this.#sliceMs >= SLICE_MS
      : this.#clock.nowMs() - this.#turnStartMs >= this.#turnMs;
  }

  /** Whether work waits. */
  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  /** Runs work of a client: at once if no other work waits, otherwise in the client's turn. */
  run(client: BudgetClient, work: () => void): void {
    if (this.#isFreeFor(client)) this.#runNow(client, work);
    else this.defer(client, work);
  }

  /** Returns the result of work of a client. It is a promise if the work is asynchronous or had to wait. */
  resultOf<T>(client: BudgetClient, work: () => Promise<T> | T): Promise<T> | T {
    if (this.#isFreeFor(client)) return this.#runNow(client, work);
    return new Promise<T>((resolve, reject) => {
      this.defer(client, () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** Resolves when it is the client's turn. The turn includes the code that awaits this promise. */
  turn(client: BudgetClient): Promise<void> {
    return new Promise((resolve) => this.defer(client, resolve));
  }

  /** Runs work in a later turn of the client, after I/O was polled. */
  defer(client: BudgetClient, work: () => void): void {
    const name = nameOf(client);
    const queue = this.#waiting.get(name);
    if (queue === undefined)
      this.#waiting.set(name, { client, tasks: [work], weight: this.#used.weightOf(client) });
    else queue.tasks.push(work);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#startSlice);
  }

  #isFreeFor(client: BudgetClient): boolean {
    if (this.isExpired) return false;
    return this.#current === undefined ? !this.isBusy : isSame(this.#current, client);
  }

  #runNow<T>(client: BudgetClient, work: () => T): T {
    if (this.#current !== undefined) return work();
    this.#begin(client, SLICE_MS - this.#sliceMs);
    try {
      return work();
    } finally {
      this.#end();
    }
  }

  #begin(client: BudgetClient, turnMs: number): void {
    this.#current = client;
    this.#turnMs = turnMs;
    this.#turnStartMs = this.#clock.nowMs();
  }

  /** Ends a turn and returns its duration. */
  #end(): number {
    const elapsedMs = this.#clock.nowMs() - this.#turnStartMs;
    this.#current = undefined;
    this.#sliceMs += elapsedMs;
    return elapsedMs;
  }

  readonly #startSlice = (): void => {
    this.#sliceMs = 0;
    this.#sliceStartMicroseconds = this.#clock.usedMicroseconds();
    this.#forget();
    this.#runNext();
  };

  /** Runs one task of the next client. Clients take short turns if many wait. */
  #runNext(): void {
    if (this.isExpired) {
      setImmediate(this.#startSlice);
      return;
    }
    let next: Queue | undefined;
    for (const queue of this.#waiting.values())
      if (next === undefined || queue.weight < next.weight) next = queue;
    const task = next?.tasks.shift();
    if (next === undefined || task === undefined) {
      this.#isScheduled = false;
      return;
    }
    const { client } = next;
    const turnMs = Math.max(MIN_TURN_MS, SLICE_MS / this.#waiting.size);
    // If clients used the same time, the one that was served last is last.
    const name = nameOf(client);
    this.#waiting.delete(name);
    if (next.tasks.length > 0) this.#waiting.set(name, next);
    this.#begin(client, Math.min(turnMs, SLICE_MS - this.#sliceMs));
    // The turn ends after all microtasks, because they are a part of it: they continue after an awaited turn.
    queueMicrotask(() => process.nextTick(this.#endTurn, client));
    task();
  }

  readonly #endTurn = (client: BudgetClient): void => {
    const elapsedMs = this.#end();
    let used = elapsedMs * MICROSECONDS_PER_MS;
    // Another process may have interrupted a long turn. The processor time is read only then, because reading it is slow.
    if (elapsedMs > SLICE_MS)
      used = Math.min(used, this.#clock.usedMicroseconds() - this.#sliceStartMicroseconds);
    const name = nameOf(client);
    const own = this.#waiting.get(name);
    if (this.#waiting.size > (own === undefined ? 0 : 1)) this.#charge(client, Math.ceil(used));
    if (own !== undefined) own.weight = this.#used.weightOf(client);
    this.#runNext();
  };

  #charge(client: BudgetClient, microseconds: number): void {
    this.#used.charge(client, microseconds);
    const name = nameOf(client);
    const use = this.#recent.get(name);
    if (use === undefined) this.#recent.set(name, { client, microseconds });
    else use.microseconds += microseconds;
  }

  /** Releases the uses of windows that have ended. */
  #forget(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#windowEndMs) return;
    // If nothing waited for more than a window, both windows are outdated.
    for (let i = 0; i < 2 && nowMs >= this.#windowEndMs; i++) {
      for (const { client, microseconds } of this.#earlier.values()) this.#used.release(client, microseconds);
      this.#earlier = this.#recent;
      this.#recent = new Map();
      this.#windowEndMs = Math.max(this.#windowEndMs + WINDOW_MS, nowMs);
    }
    for (const queue of this.#waiting.values()) queue.weight = this.#used.weightOf(queue.client);
  }
}

const nameOf = ({ address, keyId }: BudgetClient): string =>
  keyId === undefined ? address : `${address} ${keyId}`;

const isSame = (one: BudgetClient, other: BudgetClient): boolean =>
  one === other || (one.address === other.address && one.keyId === other.keyId);
