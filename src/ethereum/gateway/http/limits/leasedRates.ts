import { NotYetAdmitted } from '../../../jsonrpc/index.ts';
import type { Rates } from './rateLimits.ts';

/** Lifetime of leased calls in milliseconds. One second is the time in which an empty token bucket refills. */
const LEASE_MS = 1_000;
/** Maximum number of addresses and API keys in memory. The oldest one is evicted. */
const MAX_CALLERS = 100_000;
/** Minimum wait in milliseconds after a lease was rejected, because timers may fire early. */
const MIN_WAIT_MS = 1;
/** Share of the allowed calls per second that is leased at a time. */
const PORTION = 0.1;

const portionOf = (ratePerSecond: number, calls: number): number =>
  Math.max(calls, Math.floor(ratePerSecond * PORTION));

export interface WantedLease {
  /** Name of a limit with the client address or API key id to which it applies. */
  readonly caller: string;
  readonly ratePerSecond: number;
  readonly calls: number;
}

/** Number of calls that a process may admit for one client address or API key: 0, or at least the requested number. */
export interface Lease {
  readonly calls: number;
  readonly waitSeconds: number;
}

interface Leased {
  calls: number;
  untilMs: number;
  /** Number of calls in the last lease that was rejected. Until `refusedUntilMs`, as many are rejected at once. */
  refusedCalls: number;
  refusedUntilMs: number;
}

/**
 * Rate limits for several processes. One process has the token buckets; the others lease a tenth of the allowed calls
 * per second at a time. A lease never overdraws a bucket. Leased calls may be used up to a second later, so each
 * process can enlarge a burst by a tenth.
 */
export class LeasedRates implements Rates {
  readonly #ask: (wanted: WantedLease) => Promise<Lease>;
  readonly #now: () => number;
  readonly #callers = new Map<string, Leased>();

  constructor(ask: (wanted: WantedLease) => Promise<Lease>, now: () => number = () => performance.now()) {
    this.#ask = ask;
    this.#now = now;
  }

  take(caller: string, ratePerSecond: number, calls: number): number {
    const nowMs = this.#now();
    const leased = this.#leasedBy(caller);
    if (leased.untilMs > nowMs && leased.calls >= calls) {
      leased.calls -= calls;
      return 0;
    }
    if (leased.refusedUntilMs > nowMs && calls >= leased.refusedCalls)
      return (leased.refusedUntilMs - nowMs) / 1_000;
    throw new NotYetAdmitted(this.#lease(leased, { caller, ratePerSecond, calls }));
  }

  refund(caller: string, calls: number): void {
    this.#leasedBy(caller).calls += calls;
  }

  async #lease(leased: Leased, wanted: WantedLease): Promise<void> {
    const { calls, waitSeconds } = await this.#ask(wanted);
    const nowMs = this.#now();
    if (calls === 0) {
      leased.refusedCalls = wanted.calls;
      leased.refusedUntilMs = nowMs + Math.max(MIN_WAIT_MS, waitSeconds * 1_000);
      return;
    }
    leased.calls = calls + (leased.untilMs > nowMs ? leased.calls : 0);
    leased.untilMs = nowMs + LEASE_MS;
  }

  #leasedBy(caller: string): Leased {
    let leased = this.#callers.get(caller);
    if (leased !== undefined) return leased;
    const [oldest] = this.#callers.keys();
    if (oldest !== undefined && this.#callers.size >= MAX_CALLERS) this.#callers.delete(oldest);
    leased = { calls: 0, untilMs: 0, refusedCalls: 0, refusedUntilMs: 0 };
    this.#callers.set(caller, leased);
    return leased;
  }
}

/** Leases a tenth of the allowed calls per second from a bucket if available, otherwise the requested number. */
export function leaseFrom(rates: Rates, { caller, ratePerSecond, calls }: WantedLease): Lease {
  const portion = portionOf(ratePerSecond, calls);
  if (portion > calls && rates.take(caller, ratePerSecond, portion) === 0)
    return { calls: portion, waitSeconds: 0 };
  const waitSeconds = rates.take(caller, ratePerSecond, calls);
  return { calls: waitSeconds === 0 ? calls : 0, waitSeconds };
}
