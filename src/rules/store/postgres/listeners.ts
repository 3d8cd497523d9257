import { type Micros, parseTimestamp } from '../../index.ts';

export interface Look {
  /** Moment of the look before. */
  readonly since: Micros;
  readonly moment: Micros;
  /** All that is remembered is among the states, changed or not. */
  readonly comparesAll: boolean;
}

/** Tells who listens that something of an account changed: each change once, whether this instance made it or another. */
export class Listeners {
  /** What is remembered of accounts, and after which change. */
  remembered: () => ReadonlyMap<string, Micros> = () => new Map();
  readonly #listeners = new Set<(accountId: string) => void>();
  /** Own changes that were told and have not been looked at. */
  readonly #told = new Map<string, Micros>();
  #seen: Micros = 0;

  add(listener: (accountId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An own change that is durable now. A look may have been faster. */
  tell(accountId: string, changedOn: string): void {
    const changedAt = parseTimestamp(changedOn);
    if (changedAt <= this.#seen) return;
    this.#told.set(accountId, changedAt);
    this.#call(accountId);
  }

  /** What a look has found: accounts, and when they changed. */
  look(states: ReadonlyMap<string, Micros>, { since, moment, comparesAll }: Look): void {
    const remembered = this.remembered();
    this.#seen = moment;
    for (const [account, changedAt] of states) {
      const known = remembered.get(account);
      const isOther = comparesAll && known !== undefined && known !== changedAt;
      const isNew = changedAt > since && this.#told.get(account) !== changedAt;
      if (isNew || isOther) this.#call(account);
    }
    for (const [account, changedAt] of this.#told) if (changedAt <= moment) this.#told.delete(account);
  }

  #call(accountId: string): void {
    for (const listener of [...this.#listeners]) listener(accountId);
  }
}
