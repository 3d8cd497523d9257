import type { Budget, NodeLimits, Urgency } from '../../ethereum/nodes/index.ts';
import type { NodeLease, WantedNodeLease } from './calls.ts';
import { LEASE_MS, MIN_WAIT_MS, portionOf } from './leasedRates.ts';

/** Bytes that have arrived are told at most this often, and before each lease. */
const TELL_MS = 20;
/** Whoever waits for a lease waits no longer: the first process may be held up. */
const MAX_LEASE_WAIT_MS = 1_000;

/** The first process is gone, and this one ends. */
const GONE: NodeLease = {
  calls: 0,
  waitsMs: { firstTry: MAX_LEASE_WAIT_MS, retry: MAX_LEASE_WAIT_MS, background: MAX_LEASE_WAIT_MS },
};

export type AskNodeLease = (wanted: WantedNodeLease) => Promise<NodeLease>;

/**
 * What a worker may ask of a node: the first process has the budget, of which its own polls and ingest take too, and leases calls.
 * First tries are sent with leased calls alone. Retries, which cannot wait, may be sent before they are paid for, up to a tenth of a
 * second's calls; bytes are paid for once they have arrived, and after a tenth of a second's what is leased counts no more.
 */
export class LeasedNodeBudget implements Budget {
  readonly #ask: AskNodeLease;
  /** A tenth of a second's; more is neither leased nor owed at a time. */
  readonly #maxCalls: number;
  readonly #maxBytes: number;
  /** So many are asked for: twice as many where the last were used in time, else one, as what is not used is lost to all. */
  #wanted = 1;
  #leased = 0;
  #leasedUntilMs = 0;
  #leasedFor: Urgency = 'firstTry';
  #refusedUntilMs: Record<Urgency, number> = { firstTry: 0, retry: 0, background: 0 };
  /** What the first process has not been told of. */
  #tookCalls = 0;
  #tookBytes = 0;
  /** Calls that it has not answered yet. */
  #owedCalls = 0;
  #bytesSinceLease = 0;
  #asking: Promise<void> | undefined;
  /** It is held up: nobody waits for it now. */
  #isLate = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ callsPerSecond, bytesPerSecond }: NodeLimits, ask: AskNodeLease) {
    this.#ask = ask;
    this.#maxCalls = portionOf(callsPerSecond ?? Number.POSITIVE_INFINITY, 1);
    this.#maxBytes = portionOf(bytesPerSecond ?? Number.POSITIVE_INFINITY, 1);
  }

  callsLeft(urgency: Urgency): number {
    const left = this.#left;
    if (urgency === 'firstTry') return left;
    const isRefused = this.#refusedMs(urgency) > 0;
    if (urgency === 'background') return isRefused ? 0 : left;
    return isRefused ? left : left + Math.max(0, this.#maxCalls - this.#owedCalls);
  }

  waitMs(urgency: Urgency): number {
    if (this.callsLeft(urgency) >= 1) return 0;
    return Math.max(this.#refusedMs(urgency), this.#isLate ? MIN_WAIT_MS : 0);
  }

  takeCalls(calls: number): void {
    const leased = Math.min(calls, this.#left);
    this.#leased -= leased;
    const owed = calls - leased;
    this.#tookCalls += owed;
    this.#owedCalls += owed;
    if (this.#asking !== undefined) return;
    if (owed > 0) void this.#begin('retry', 0);
    // Before all are used, so that who comes next need not wait.
    else if (this.#leased > 0 && this.#leased < this.#wanted / 2 && this.#refusedMs(this.#leasedFor) === 0)
      void this.#begin(this.#leasedFor, this.#nextWanted());
  }

  takeBytes(bytes: number): void {
    this.#tookBytes += bytes;
    this.#bytesSinceLease += bytes;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#tookBytes > 0 && this.#asking === undefined) void this.#begin('retry', 0);
    }, TELL_MS).unref();
  }

  lease(urgency: Urgency): Promise<void> | undefined {
    if (this.#isLate || this.waitMs(urgency) > 0 || this.callsLeft(urgency) >= 1) return undefined;
    return this.#asking ?? this.#begin(urgency, this.#nextWanted());
  }

  get #left(): number {
    const isOver = this.#leasedUntilMs <= performance.now() || this.#bytesSinceLease > this.#maxBytes;
    return isOver ? 0 : this.#leased;
  }

  #refusedMs(urgency: Urgency): number {
    return Math.max(0, this.#refusedUntilMs[urgency] - performance.now());
  }

  #nextWanted(): number {
    const isOver = this.#leasedUntilMs <= performance.now();
    this.#wanted = isOver ? 1 : Math.min(this.#maxCalls, 2 * this.#wanted);
    return this.#wanted;
  }

  #begin(urgency: Urgency, calls: number): Promise<void> {
    const asked = this.#tell(urgency, calls);
    let late: NodeJS.Timeout | undefined;
    const inTime = new Promise<void>((resolve) => {
      late = setTimeout(() => {
        this.#isLate = true;
        resolve();
      }, MAX_LEASE_WAIT_MS).unref();
    });
    const over = asked.finally(() => {
      clearTimeout(late);
      this.#isLate = false;
      this.#asking = undefined;
      // Taken meanwhile.
      if (this.#tookCalls > 0 || (this.#tookBytes > 0 && this.#timer === undefined))
        void this.#begin('retry', 0);
    });
    this.#asking = Promise.race([over, inTime]);
    return this.#asking;
  }

  async #tell(urgency: Urgency, calls: number): Promise<void> {
    const [tookCalls, tookBytes] = [this.#tookCalls, this.#tookBytes];
    this.#tookCalls = 0;
    this.#tookBytes = 0;
    const lease = await this.#ask({ urgency, calls, tookCalls, tookBytes }).catch(() => GONE);
    const nowMs = performance.now();
    this.#owedCalls -= tookCalls;
    const { firstTry, retry, background } = lease.waitsMs;
    this.#refusedUntilMs = {
      firstTry: nowMs + firstTry,
      retry: nowMs + retry,
      background: nowMs + background,
    };
    if (calls === 0) return;
    if (lease.calls === 0) {
      this.#refusedUntilMs[urgency] = nowMs + Math.max(MIN_WAIT_MS, lease.waitsMs[urgency]);
      return;
    }
    this.#leased = lease.calls + this.#left;
    this.#leasedUntilMs = nowMs + LEASE_MS;
    this.#leasedFor = urgency;
    this.#bytesSinceLease = this.#tookBytes;
  }
}

/** Takes what a worker tells of from a node's budget, and leases it calls where others are left. */
export function leaseFromNode(
  budget: Budget,
  { urgency, calls, tookCalls, tookBytes }: WantedNodeLease,
): NodeLease {
  budget.takeCalls(tookCalls);
  budget.takeBytes(tookBytes);
  const leased = Math.min(calls, budget.callsLeft(urgency));
  budget.takeCalls(leased);
  const waitsMs = {
    firstTry: budget.waitMs('firstTry'),
    retry: budget.waitMs('retry'),
    background: budget.waitMs('background'),
  };
  return { calls: leased, waitsMs };
}
