import type { Database } from 'lmdb';
import type { Micros } from '../../index.ts';
import type { RulesEnvironment } from './environment.ts';

/** Interval of polls for changes by other processes, which must take effect within a second. */
const POLL_INTERVAL_MS = 500;

export type ChangeStates = Database<{ readonly changedAt: Micros }, string>;

/**
 * Notifies listeners of accounts whose rules, lists or zone policies changed: at once for changes by this process, and at the next
 * poll for changes by other processes.
 */
export class RulesChangeFeed {
  readonly #environment: RulesEnvironment;
  readonly #states: ChangeStates;
  readonly #listeners = new Set<(accountId: string) => void>();
  /** Times of changes by this process since the last poll, by account. The next poll does not report them again. */
  readonly #notified = new Map<string, Micros>();
  #seen: Micros = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(environment: RulesEnvironment, states: ChangeStates) {
    this.#environment = environment;
    this.#states = states;
  }

  listen(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    if (!this.#timer) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  notify(accountId: string, changedAt: Micros): void {
    if (this.#listeners.size === 0) return;
    this.#notified.set(accountId, changedAt);
    for (const listener of this.#listeners) listener(accountId);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#environment.refresh();
    this.#seen = this.#environment.changedAt;
    this.#timer = setInterval(() => this.#poll(), POLL_INTERVAL_MS).unref();
  }

  #poll(): void {
    this.#environment.refresh();
    const changedAt = this.#environment.changedAt;
    if (changedAt === this.#seen) return;
    for (const { key, value } of this.#states.getRange())
      if (value.changedAt > this.#seen && value.changedAt !== this.#notified.get(key))
        for (const listener of this.#listeners) listener(key);
    this.#seen = changedAt;
    this.#notified.clear();
  }
}
