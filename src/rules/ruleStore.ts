import type { Actor } from './audit.ts';
import type { NewRule, Rule, RuleSettings } from './rule.ts';

/**
 * Store of rules. A write is atomic, and is durable when its promise resolves. The audit entry of a change is written
 * in the same transaction. Methods throw `StoreUnavailable` if the storage engine fails.
 */
export interface RuleStore {
  /**
   * Returns the rules of an account as a frozen array, ordered by `created_on`, then `id`. Returns the same array
   * until a rule changes, so that callers can cache derived data by the identity of the array.
   */
  list(accountId: string): Promise<readonly Rule[]>;

  get(accountId: string, ruleId: string): Promise<Rule | undefined>;

  /** Throws `TooManyRules` at the account's limit, `KeyReused` if the retry key was used to create another rule. */
  create(accountId: string, rule: NewRule, change: RuleCreation): Promise<CreatedRule>;

  /**
   * Passes the stored rule to `decide` and applies the settings that it returns, in one transaction. If `decide`
   * throws, nothing is written and the error is rethrown.
   */
  update(accountId: string, ruleId: string, change: RuleUpdate): Promise<Rule | undefined>;

  /** Deletes a rule unless `check` throws for it. Returns false if the rule does not exist. */
  delete(accountId: string, ruleId: string, change: RuleDeletion): Promise<boolean>;

  /** Deletes all rules of an account. Returns the number of deleted rules. */
  deleteAll(accountId: string, actor: Actor): Promise<number>;

  /**
   * Calls the listener with the account id after each change of an account's rules: at once if this process made the
   * change, within two seconds if another process or instance made it. Returns a function that unsubscribes.
   */
  onChange(listener: (accountId: string) => void): () => void;
}

export interface RuleCreation {
  readonly actor: Actor;
  /** `Idempotency-Key` of the request. If a creation is repeated with the same key, the first result is returned. */
  readonly retryKey?: string | undefined;
}

/** Change of a stored record. `decide` returns its changed members; with none, nothing is written. */
export interface Update<Stored, Changes> {
  readonly decide: (stored: Stored) => Changes;
  readonly actor: Actor;
}

/** Deletion of a stored record, unless `check` throws for it. */
export interface Deletion<Stored> {
  readonly check: (stored: Stored) => void;
  readonly actor: Actor;
}

export type RuleUpdate = Update<Rule, Partial<RuleSettings>>;
export type RuleDeletion = Deletion<Rule>;

export interface CreatedRule {
  readonly rule: Rule;
  readonly overrides: readonly string[];
  /** Whether an earlier creation with the same retry key created the rule. */
  readonly replayed: boolean;
}

/** Time for which the result of a creation is stored under its retry key: 24 hours. */
export const RETRY_KEY_LIFE_MS = 24 * 60 * 60 * 1000;
