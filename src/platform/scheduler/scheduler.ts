import { performance } from 'node:perf_hooks';
import type { BudgetClient } from '../budgets/index.ts';
import { nameOf, RecentUse } from './recentUse.ts';

/** Time after which waiting work lets the event loop poll for I/O. A single task may exceed it. */
const SLICE_MS = 2;
/** Minimum turn of a client. With fewer waiting clients, turns are longer, so that each slice serves several clients. */
const MIN_TURN_MS = 0.2;
/** A client that used more of the last second is heavy, unless the others together used at most `OTHERS_MICROSECONDS`. */
const HEAVY_MICROSECONDS = 50_000;
/** More than a request per second needs. */
const OTHERS_MICROSECONDS = 2_000;
/** Longest pause of heavy clients, as a multiple of the time that they used before it. */
const MAX_PAUSE_FACTOR = 10;
/** Longest pause of heavy clients. */
const MAX_PAUSE_MS = 50;
const MICROSECONDS_PER_MS = 1_000;

export interface Clock {
  nowMs(): number;
  /** Processor time of the process in microseconds. */
  usedMicroseconds(): number;
  /** Time for which the event loop waited for events. */
  idleMs(): number;
  /** Calls a function after a delay. The returned function cancels the call. */
  runAfter(delayMs: number, work: () => void): () => void;
}

const CLOCK: Clock = {
  nowMs: () => performance.now(),
  usedMicroseconds() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  idleMs: () => performance.eventLoopUtilization().idle,
  runAfter(delayMs, work) {
    const timer = setTimeout(work, delayMs);
    return () => clearTimeout(timer);
  },
};

export interface SchedulerOptions {
  /** Whether other processes of the server need the processors, too. Default: false. */
  readonly sharesProcessors?: boolean;
  readonly clock?: Clock;
}

interface Queue {
  readonly client: BudgetClient;
  readonly tasks: (() => void)[];
  /** Recent processor time of the client, in shares. */
  weight: number;
}

/** A time slice of one client. */
interface Turn {
  readonly client: BudgetClient;
  readonly startMs: number;
  readonly durationMs: number;
  /** Whether work that ran at once has returned. Only promises may continue it, so work of another client may run. */
  isReturned: boolean;
}

/**
 * Divides the processor time of a process among its clients. Work runs at once while no other work waits. Otherwise,
 * the client that used the least time in the last second runs next. Between time slices of 2 ms, I/O is polled and a
 * connection is accepted.
 *
 * If other processes of the server need the processors, too, heavy clients use at most half of the time that others
 * leave: after their work, they pause until the event loop was idle for as long. If it is never idle, they use a tenth
 * of the time. Otherwise, a few clients would occupy all processors of a server with workers, and each step of another
 * client's request would wait for one.
 */
export class Scheduler {
  readonly #clock: Clock;
  readonly #sharesProcessors: boolean;
  readonly #use = new RecentUse();
  readonly #waiting = new Map<string, Queue>();
  /** Whether a slice runs or is scheduled. */
  #isScheduled = false;
  /** Cancels the slice after the pause of heavy clients. Defined only during a pause. */
  #cancelPause: (() => void) | undefined;
  #sliceMs = 0;
  #turn: Turn | undefined;
  /** Processor time of the process at the start of the slice. */
  #sliceStartMicroseconds = 0;
  /** Whether heavy clients may run in this slice. */
  #servesHeavy = false;
  /** Time of heavy clients after which the event loop was not idle yet. */
  #debtMs = 0;
  /** Idle time of the event loop when the debt was last changed. */
  #idleMs = 0;
  /** Time at which heavy clients may run despite their debt. Undefined without a debt. */
  #latestMs: number | undefined;

  constructor({ sharesProcessors = false, clock = CLOCK }: SchedulerOptions = {}) {
    this.#sharesProcessors = sharesProcessors;
    this.#clock = clock;
  }

  /** Whether the current turn has ended. The running work should then wait for its next turn. */
  get isExpired(): boolean {
    return this.#turn === undefined
      ? this.#sliceMs >= SLICE_MS
      : this.#clock.nowMs() - this.#turn.startMs >= this.#turn.durationMs;
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
    if (queue === undefined) {
      this.#forget();
      const weight = this.#use.of(client);
      this.#waiting.set(name, { client, tasks: [work], weight });
      if (!this.#isHeavy(weight)) this.#endPause();
    } else queue.tasks.push(work);
    if (!this.#isScheduled) this.#schedule();
  }

  /** Charges a client for work that the scheduler did not run, for example of other threads. */
  charge(client: BudgetClient, ms: number): void {
    this.#charge(client, ms * MICROSECONDS_PER_MS);
  }

  #isFreeFor(client: BudgetClient): boolean {
    if (this.isExpired) return false;
    if (this.#turn !== undefined && isSame(this.#turn.client, client)) return true;
    return !this.isBusy && this.#turn?.isReturned !== false;
  }

  #runNow<T>(client: BudgetClient, work: () => T): T {
    if (this.#turn !== undefined) {
      if (isSame(this.#turn.client, client)) return work();
      this.#end(this.#turn);
    }
    const turn = this.#begin(client, SLICE_MS - this.#sliceMs);
    afterPromises(() => {
      if (this.#turn === turn) this.#end(turn);
    });
    try {
      return work();
    } finally {
      turn.isReturned = true;
    }
  }

  /** Schedules a slice: after I/O was polled, or after a pause if only heavy clients wait. */
  #schedule(): void {
    this.#isScheduled = true;
    const next = this.#nextQueue();
    const pauseMs = next !== undefined && this.#isHeavy(next.weight) ? this.#pauseMs() : 0;
    if (pauseMs > 0) this.#cancelPause = this.#clock.runAfter(pauseMs, this.#startSlice);
    else setImmediate(this.#startSlice);
  }

  /** Reduces the debt by the idle time since its last change. */
  #payDebt(): void {
    const idleMs = this.#clock.idleMs();
    this.#debtMs = Math.max(0, this.#debtMs - (idleMs - this.#idleMs));
    this.#idleMs = idleMs;
    if (this.#debtMs === 0) this.#latestMs = undefined;
  }

  /** Returns for how long heavy clients must still pause if the event loop is idle from now on. */
  #pauseMs(): number {
    if (this.#debtMs > 0) this.#payDebt();
    if (this.#debtMs === 0) return 0;
    const nowMs = this.#clock.nowMs();
    this.#latestMs ??= nowMs + Math.min(MAX_PAUSE_MS, MAX_PAUSE_FACTOR * this.#debtMs);
    if (nowMs < this.#latestMs) return Math.min(this.#debtMs, this.#latestMs - nowMs);
    this.#debtMs = 0;
    this.#latestMs = undefined;
    return 0;
  }

  #endPause(): void {
    if (this.#cancelPause === undefined) return;
    this.#cancelPause();
    this.#cancelPause = undefined;
    this.#isScheduled = false;
  }

  #begin(client: BudgetClient, durationMs: number): Turn {
    this.#turn = { client, startMs: this.#clock.nowMs(), durationMs, isReturned: false };
    return this.#turn;
  }

  /** Charges a client for its turn, and ends the turn. */
  #end({ client, startMs }: Turn): void {
    const elapsedMs = this.#clock.nowMs() - startMs;
    this.#turn = undefined;
    this.#sliceMs += elapsedMs;
    let used = elapsedMs * MICROSECONDS_PER_MS;
    // Another process may have interrupted a long turn. The processor time is read only then, because reading it is slow.
    if (elapsedMs > SLICE_MS)
      used = Math.min(used, this.#clock.usedMicroseconds() - this.#sliceStartMicroseconds);
    this.#charge(client, used);
  }

  #charge(client: BudgetClient, microseconds: number): void {
    this.#forget();
    this.#use.charge(client, Math.ceil(microseconds));
    const weight = this.#use.of(client);
    const queue = this.#waiting.get(nameOf(client));
    if (queue !== undefined) queue.weight = weight;
    if (!this.#isHeavy(weight)) return;
    this.#payDebt();
    this.#debtMs += microseconds / MICROSECONDS_PER_MS;
  }

  readonly #startSlice = (): void => {
    this.#cancelPause = undefined;
    this.#sliceMs = 0;
    this.#servesHeavy = this.#pauseMs() === 0;
    this.#sliceStartMicroseconds = this.#clock.usedMicroseconds();
    this.#runNext();
  };

  /** Runs one task of the next client. Clients take short turns if many wait. */
  #runNext(): void {
    const next = this.#nextQueue();
    const task = next?.tasks[0];
    if (next === undefined || task === undefined) {
      this.#isScheduled = false;
      return;
    }
    const mustPause = this.#isHeavy(next.weight) && !this.#servesHeavy;
    if (mustPause || this.isExpired) return this.#schedule();
    next.tasks.shift();
    const { client } = next;
    const turnMs = Math.max(MIN_TURN_MS, SLICE_MS / this.#waiting.size);
    // If clients used the same time, the one that was served last is last.
    const name = nameOf(client);
    this.#waiting.delete(name);
    if (next.tasks.length > 0) this.#waiting.set(name, next);
    const turn = this.#begin(client, Math.min(turnMs, SLICE_MS - this.#sliceMs));
    afterPromises(() => {
      this.#end(turn);
      this.#runNext();
    });
    task();
  }

  #nextQueue(): Queue | undefined {
    let next: Queue | undefined;
    for (const queue of this.#waiting.values())
      if (next === undefined || queue.weight < next.weight) next = queue;
    return next;
  }

  #isHeavy(weight: number): boolean {
    if (!this.#sharesProcessors) return false;
    return weight > HEAVY_MICROSECONDS && this.#use.total - weight > OTHERS_MICROSECONDS;
  }

  /** Forgets the time of the clients before the last second. */
  #forget(): void {
    if (!this.#use.forget(this.#clock.nowMs())) return;
    for (const queue of this.#waiting.values()) queue.weight = this.#use.of(queue.client);
  }
}

const isSame = (one: BudgetClient, other: BudgetClient): boolean =>
  one === other || (one.address === other.address && one.keyId === other.keyId);

/** Calls a function after all microtasks: promises that continue the work of a client are a part of its turn. */
function afterPromises(callback: () => void): void {
  queueMicrotask(() => process.nextTick(callback));
}
