import { Budget, type BudgetClient } from '../budgets/index.ts';

/** Processor time is forgotten after one to two windows. */
const WINDOW_MS = 500;

interface Use {
  readonly client: BudgetClient;
  /** Microseconds in the current window, and in the one before. */
  now: number;
  before: number;
}

/** The processor time that each client used in the last second. */
export class RecentUse {
  /** Counts microseconds, because sums of integers leave no rest when they are released. */
  readonly #used = new Budget({ perClient: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY });
  readonly #clients = new Map<string, Use>();
  #windowEndMs = 0;

  /** Microseconds of all clients. */
  get total(): number {
    return this.#used.total;
  }

  charge(client: BudgetClient, microseconds: number): void {
    this.#used.charge(client, microseconds);
    const name = nameOf(client);
    const use = this.#clients.get(name);
    if (use === undefined) this.#clients.set(name, { client, now: microseconds, before: 0 });
    else use.now += microseconds;
  }

  /** Returns the microseconds of a client, in shares. */
  of(client: BudgetClient): number {
    return this.#used.weightOf(client);
  }

  /** Forgets the time of windows that have ended. Returns whether it forgot any. */
  forget(nowMs: number): boolean {
    if (nowMs < this.#windowEndMs) return false;
    // If nothing was used for more than a window, both windows are outdated.
    const isOutdated = nowMs >= this.#windowEndMs + WINDOW_MS;
    for (const [name, use] of this.#clients) {
      const ended = isOutdated ? use.before + use.now : use.before;
      this.#used.release(use.client, ended);
      use.before = isOutdated ? 0 : use.now;
      use.now = 0;
      if (use.before === 0) this.#clients.delete(name);
    }
    this.#windowEndMs = isOutdated ? nowMs + WINDOW_MS : this.#windowEndMs + WINDOW_MS;
    return true;
  }
}

/** Returns a name of a client that differs for each address and key. */
export const nameOf = ({ address, keyId }: BudgetClient): string =>
  keyId === undefined ? address : `${address} ${keyId}`;
