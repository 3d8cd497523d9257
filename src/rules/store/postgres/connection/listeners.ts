import { type Micros, parseTimestamp } from '../../../index.ts';

export interface Poll {
  readonly since: Micros;
  readonly moment: Micros;
  /** Whether the poll read the states of all cached accounts, even of unchanged ones. */
  readonly comparesAll: boolean;
}

/** Notifies listeners of accounts that any instance changed, one time per change. */
export class Listeners {
  /** Returns the cached accounts, each with the time of the last change that its cached data includes. */
  cached: () => ReadonlyMap<string, Micros> = () => new Map();
  readonly #listeners = new Set<(accountId: string) => void>();
  /** Times of changes by this instance that listeners know of but no poll has read yet, by account. */
  readonly #notified = new Map<string, Micros>();
  #seen: Micros = 0;

  add(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notifies listeners of a durable change by this instance, unless a poll has already reported it. */
  notify(accountId: string, changedOn: string): void {
    const changedAt = parseTimestamp(changedOn);
    if (changedAt <= this.#seen) return;
    this.#notified.set(accountId, changedAt);
    this.#call(accountId);
  }

  /** Notifies listeners of changed accounts among those that a poll read, which are given with their change times. */
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
