import { type Micros, parseTimestamp } from '../../../index.ts';

export interface Poll {
  readonly since: Micros;
  readonly moment: Micros;
  /** Whether the states include all cached accounts, changed or not. */
  readonly comparesAll: boolean;
}

/** Notifies listeners of changed accounts, once per change, for changes of all instances. */
export class Listeners {
  /** Returns the change time of each cached account's snapshot. */
  cached: () => ReadonlyMap<string, Micros> = () => new Map();
  readonly #listeners = new Set<(accountId: string) => void>();
  /** Changes of this instance that were reported before a poll found them. */
  readonly #notified = new Map<string, Micros>();
  #seen: Micros = 0;

  add(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reports a durable change of this instance, unless a poll has already found it. */
  notify(accountId: string, changedOn: string): void {
    const changedAt = parseTimestamp(changedOn);
    if (changedAt <= this.#seen) return;
    this.#notified.set(accountId, changedAt);
    this.#call(accountId);
  }

  /** Processes the accounts that a poll found, with their change times. */
  applyPoll(states: ReadonlyMap<string, Micros>, { since, moment, comparesAll }: Poll): void {
    const remembered = this.cached();
    this.#seen = moment;
    for (const [account, changedAt] of states) {
      const known = remembered.get(account);
      const isOther = comparesAll && known !== undefined && known !== changedAt;
      const isNew = changedAt > since && this.#notified.get(account) !== changedAt;
      if (isNew || isOther) this.#call(account);
    }
    for (const [account, changedAt] of this.#notified)
      if (changedAt <= moment) this.#notified.delete(account);
  }

  #call(accountId: string): void {
    for (const listener of [...this.#listeners]) listener(accountId);
  }
}
