import type { Rates } from '../../ethereum/gateway/index.ts';
import { NotYetAdmitted } from '../../ethereum/jsonrpc/index.ts';
import type { Lease, PrimaryCalls } from './calls.ts';

/** What is leased is good so long: a bucket is full again after a second whatever was taken of it. */
export const LEASE_MS = 1_000;
/** Callers that are known: beyond, the oldest are forgotten, and what they had leased is lost to them for a second. */
const MAX_CALLERS = 100_000;
/** Who is refused is not asked about again before: a wait may be shorter than the clock tells. */
export const MIN_WAIT_MS = 1;
/** What is leased at a time, of a second's calls. */
const PORTION = 0.1;

/** So many are leased where so many are wanted. */
export const portionOf = (ratePerSecond: number, calls: number): number =>
  Math.max(calls, Math.floor(ratePerSecond * PORTION));

interface Leased {
  calls: number;
  untilMs: number;
  /** So many or more are refused until then. */
  refusedCalls: number;
  refusedUntilMs: number;
}

export type AskLease = (wanted: Parameters<PrimaryCalls['take']>[0]) => Promise<Lease>;

/**
 * Rates of all workers together: the primary has the buckets, and gives each worker a tenth of a second's calls at a time. A bucket is
 * never overdrawn; what is leased and not used is let through up to a second later, so a burst may be larger by as many tenths as
 * there are workers.
 */
export class LeasedRates implements Rates {
  readonly #ask: AskLease;
  readonly #now: () => number;
  readonly #callers = new Map<string, Leased>();

  constructor(ask: AskLease, now: () => number = () => performance.now()) {
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
    // Until then there cannot be more.
    if (leased.refusedUntilMs > nowMs && calls >= leased.refusedCalls)
      return (leased.refusedUntilMs - nowMs) / 1_000;
    throw new NotYetAdmitted(this.#lease(leased, { caller, ratePerSecond, calls }));
  }

  giveBack(caller: string, calls: number): void {
    this.#leasedBy(caller).calls += calls;
  }

  async #lease(leased: Leased, wanted: Parameters<AskLease>[0]): Promise<void> {
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
    if (this.#callers.size >= MAX_CALLERS) {
      const [oldest] = this.#callers.keys();
      if (oldest !== undefined) this.#callers.delete(oldest);
    }
    leased = { calls: 0, untilMs: 0, refusedCalls: 0, refusedUntilMs: 0 };
    this.#callers.set(caller, leased);
    return leased;
  }
}

/** Leases calls from the buckets of all workers: a portion where there is one, else those that are wanted. */
export function leaseFrom(
  rates: Rates,
  { caller, ratePerSecond, calls }: Parameters<PrimaryCalls['take']>[0],
): Lease {
  const portion = portionOf(ratePerSecond, calls);
  if (portion > calls && rates.take(caller, ratePerSecond, portion) === 0)
    return { calls: portion, waitSeconds: 0 };
  const waitSeconds = rates.take(caller, ratePerSecond, calls);
  return waitSeconds === 0 ? { calls, waitSeconds } : { calls: 0, waitSeconds };
}
