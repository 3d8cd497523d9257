import { awaitedLater, inBackground } from '../../../platform/background/index.ts';
import type { Budget, NodeLimits, Urgency } from './nodeBudget.ts';

const LEASE_MS = 1_000;
/** Minimum wait after a refused lease before another request for one, because timers may fire early. */
const MIN_WAIT_MS = 1;
/** Share of a second's budget: the maximum calls and bytes of a lease, and of unconfirmed calls beyond leases. */
const PORTION = 0.1;
const portionOf = (perSecond: number): number => Math.max(1, Math.floor(perSecond * PORTION));

/** Request for a lease: the wanted number of calls, and a report of calls and bytes that no lease has covered. */
export interface WantedNodeLease {
  readonly urgency: Urgency;
  readonly calls: number;
  readonly tookCalls: number;
  readonly tookBytes: number;
}

/** Response to a request for a lease: the number of granted calls, and the wait until the next one, by urgency. */
export interface NodeLease {
  readonly calls: number;
  readonly waitsMs: Readonly<Record<Urgency, number>>;
}

/** Minimum interval between reports of received bytes. Each request for a lease reports these bytes too. */
const REPORT_MS = 20;
/** Lease to assume if the request for one fails: no calls are granted, and the next request waits. */
const NO_LEASE: NodeLease = {
  calls: 0,
  waitsMs: { firstTry: LEASE_MS, retry: LEASE_MS, background: LEASE_MS },
};

/**
 * Budget of a node in a process that leases calls from the process that owns the budget. Polls and ingest of the
 * owner use the budget too. A first try needs a leased call. A retry cannot wait, so a tenth of a second's calls may
 * be sent before they are leased. Bytes are reported when received. A lease ends after a tenth of a second's bytes.
 */
export class LeasedNodeBudget implements Budget {
  readonly #ask: (wanted: WantedNodeLease) => Promise<NodeLease>;
  readonly #maxCalls: number;
  readonly #maxBytes: number;
  /** Calls per lease. Doubles if the last lease was used up in time, otherwise 1, because unused calls are lost. */
  #wanted = 1;
  #leased = 0;
  #leasedUntilMs = 0;
  #bytesOfLease = 0;
  #refusedUntilMs: Record<Urgency, number> = { firstTry: 0, retry: 0, background: 0 };
  /** Number of calls sent beyond leases that were not reported yet. */
  #tookCalls = 0;
  #tookBytes = 0;
  /** Number of calls sent beyond leases that the other process has not confirmed yet. */
  #owedCalls = 0;
  #asking: Promise<void> | undefined;
  #reporting: NodeJS.Timeout | undefined;

  constructor(
    { callsPerSecond = Number.POSITIVE_INFINITY, bytesPerSecond = Number.POSITIVE_INFINITY }: NodeLimits,
    ask: (wanted: WantedNodeLease) => Promise<NodeLease>,
  ) {
    this.#ask = ask;
    this.#maxCalls = portionOf(callsPerSecond);
    this.#maxBytes = portionOf(bytesPerSecond);
  }

  callsLeft(urgency: Urgency): number {
    const left = this.#left;
    if (urgency === 'firstTry') return left;
    const isRefused = this.#refusedMs(urgency) > 0;
    if (urgency === 'background') return isRefused ? 0 : left;
    return isRefused ? left : left + Math.max(0, this.#maxCalls - this.#owedCalls);
  }

  waitMs(urgency: Urgency): number {
    return this.callsLeft(urgency) >= 1 ? 0 : this.#refusedMs(urgency);
  }

  takeCalls(calls: number): void {
    const leased = Math.min(calls, this.#left);
    this.#leased -= leased;
    this.#tookCalls += calls - leased;
    this.#owedCalls += calls - leased;
    if (calls > leased) this.#report();
  }

  takeBytes(bytes: number): void {
    this.#tookBytes += bytes;
    this.#bytesOfLease += bytes;
    this.#reporting ??= setTimeout(() => {
      this.#reporting = undefined;
      this.#report();
    }, REPORT_MS).unref();
  }

  lease(urgency: Urgency): Promise<void> | undefined {
    if (this.waitMs(urgency) > 0 || this.callsLeft(urgency) >= 1) return undefined;
    const isExpired = this.#leasedUntilMs <= performance.now();
    if (this.#asking === undefined) this.#wanted = isExpired ? 1 : Math.min(this.#maxCalls, 2 * this.#wanted);
    return this.#asking ?? this.#begin(urgency, this.#wanted);
  }

  get #left(): number {
    const isFinished = this.#leasedUntilMs <= performance.now() || this.#bytesOfLease > this.#maxBytes;
    return isFinished ? 0 : this.#leased;
  }

  #refusedMs(urgency: Urgency): number {
    return Math.max(0, this.#refusedUntilMs[urgency] - performance.now());
  }

  /** Reports used calls and bytes. While a request is pending, does nothing, because they are reported after it. */
  #report(): void {
    if (this.#asking !== undefined || (this.#tookCalls === 0 && this.#tookBytes === 0)) return;
    inBackground('report to a node budget', () => this.#begin('retry', 0));
  }

  #begin(urgency: Urgency, calls: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    // If the other process hangs, this ends the wait, so that calls are rejected.
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#refusedUntilMs[urgency] = performance.now() + LEASE_MS;
        resolve();
      }, LEASE_MS).unref();
    });
    this.#asking = awaitedLater(
      Promise.race([this.#send(urgency, calls), late]).finally(() => {
        clearTimeout(timer);
        this.#asking = undefined;
        if (this.#reporting === undefined) this.#report();
      }),
    );
    return this.#asking;
  }

  async #send(urgency: Urgency, calls: number): Promise<void> {
    const [tookCalls, tookBytes] = [this.#tookCalls, this.#tookBytes];
    this.#tookCalls = 0;
    this.#tookBytes = 0;
    const lease = await this.#ask({ urgency, calls, tookCalls, tookBytes }).catch(() => NO_LEASE);
    this.#owedCalls -= tookCalls;
    const nowMs = performance.now();
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
    this.#bytesOfLease = this.#tookBytes;
  }
}

/** Charges the reported calls and bytes to a node's budget, then grants as many of the wanted calls as it allows. */
export function leaseFromNode(
  budget: Budget,
  { urgency, calls, tookCalls, tookBytes }: WantedNodeLease,
): NodeLease {
  budget.takeCalls(tookCalls);
  budget.takeBytes(tookBytes);
  const leased = Math.min(calls, budget.callsLeft(urgency));
  budget.takeCalls(leased);
  const waitOf = (kind: Urgency): number => budget.waitMs(kind);
  return {
    calls: leased,
    waitsMs: { firstTry: waitOf('firstTry'), retry: waitOf('retry'), background: waitOf('background') },
  };
}
