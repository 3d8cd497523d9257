import type { Database } from 'lmdb';
import type { Micros } from '../../index.ts';
import type { RulesEnvironment } from './environment.ts';

/** How often the store is asked whether another process changed it: a change is to be in force within a second. */
const POLL_INTERVAL_MS = 500;

/** When something of an account changed last, by its id. */
export type ChangeStates = Database<{ readonly changedAt: Micros }, string>;

/** Tells listeners whose rules, or lists, changed: own changes at once, those of other processes by looking. */
export class RulesChangeFeed {
  readonly #environment: RulesEnvironment;
  readonly #states: ChangeStates;
  readonly #listeners = new Set<(accountId: string) => void>();
  /** Own changes that were told since the last look, so that the next look does not tell them again. */
  readonly #told = new Map<string, Micros>();
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

  /** An own change that is durable now. */
  tell(accountId: string, changedAt: Micros): void {
    if (this.#listeners.size === 0) return;
    this.#told.set(accountId, changedAt);
    for (const listener of this.#listeners) listener(accountId);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#environment.refresh();
    this.#seen = this.#environment.changedAt;
    this.#timer = setInterval(() => this.#look(), POLL_INTERVAL_MS).unref();
  }

  #look(): void {
    this.#environment.refresh();
    const changedAt = this.#environment.changedAt;
    if (changedAt === this.#seen) return;
    for (const { key, value } of this.#states.getRange())
      if (value.changedAt > this.#seen && value.changedAt !== this.#told.get(key))
        for (const listener of this.#listeners) listener(key);
    this.#seen = changedAt;
    this.#told.clear();
  }
}
