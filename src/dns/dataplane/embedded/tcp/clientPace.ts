/**
 * Limits the processor time of each client over TCP to a share of the thread's time: a client above it waits. One client
 * could otherwise use a whole processor, and more of the DNS servers than all other clients.
 */
import type { Scheduler } from '../../../../platform/scheduler/index.ts';

/** Share of the time of the thread that one client may use: thousands of queries a second. */
const SHARE = 0.25;
/** Time that a client may use at once after it used none. */
const BURST_MS = 50;

export interface PaceClock {
  nowMs(): number;
  runAfter(delayMs: number, work: () => void): void;
}

const CLOCK: PaceClock = {
  nowMs: () => performance.now(),
  runAfter: (delayMs, work) => void setTimeout(work, delayMs),
};

interface Account {
  /** Time that the client may use. Negative if it used more. */
  leftMs: number;
  updatedMs: number;
  readonly waiting: (() => void)[];
}

export class ClientPace {
  readonly #scheduler: Pick<Scheduler, 'run'>;
  readonly #clock: PaceClock;
  readonly #accounts = new Map<string, Account>();

  constructor(scheduler: Pick<Scheduler, 'run'>, clock = CLOCK) {
    this.#scheduler = scheduler;
    this.#clock = clock;
  }

  /** Number of clients that used time lately. */
  get size(): number {
    return this.#accounts.size;
  }

  /** Runs work of a client in its turn: when the client has time left, and the scheduler selects it. */
  run(client: string, work: () => void): void {
    const account = this.#account(client);
    if (account.leftMs < 0) this.#wait(client, account, work);
    else this.#scheduler.run({ address: client }, () => this.#runNow(client, account, work));
  }

  /** Forgets clients that may use the whole burst again. Call it several times per second. */
  sweep(): void {
    for (const [client, account] of this.#accounts) {
      this.#refill(account);
      if (account.leftMs === BURST_MS && account.waiting.length === 0) this.#accounts.delete(client);
    }
  }

  #account(client: string): Account {
    let account = this.#accounts.get(client);
    if (account === undefined) {
      account = { leftMs: BURST_MS, updatedMs: this.#clock.nowMs(), waiting: [] };
      this.#accounts.set(client, account);
    }
    this.#refill(account);
    return account;
  }

  #runNow(client: string, account: Account, work: () => void): void {
    this.#refill(account);
    // Other work of the client may have run since the scheduler received this one.
    if (account.leftMs < 0) return this.#wait(client, account, work);
    const startMs = this.#clock.nowMs();
    try {
      work();
    } finally {
      account.leftMs -= this.#clock.nowMs() - startMs;
    }
  }

  #wait(client: string, account: Account, work: () => void): void {
    account.waiting.push(work);
    if (account.waiting.length > 1) return;
    this.#clock.runAfter(Math.ceil(-account.leftMs / SHARE), () => {
      for (const next of account.waiting.splice(0)) this.run(client, next);
    });
  }

  #refill(account: Account): void {
    const nowMs = this.#clock.nowMs();
    account.leftMs = Math.min(BURST_MS, account.leftMs + (nowMs - account.updatedMs) * SHARE);
    account.updatedMs = nowMs;
  }
}
