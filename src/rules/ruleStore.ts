import type { Actor } from './audit.ts';
import type { NewRule, Rule, RuleSettings } from './rule.ts';

/**
 * Store of rules. A write is atomic, durable when its promise resolves, and writes its audit entry in the same
 * transaction. Methods throw `StoreUnavailable` if the engine fails.
 */
export interface RuleStore {
  /**
   * Returns the rules of an account, frozen and ordered by `created_on`, then `id`. Returns the same array until a
   * rule changes, so that callers can cache derived data by the identity of the array.
   */
  list(accountId: string): Promise<readonly Rule[]>;

  get(accountId: string, ruleId: string): Promise<Rule | undefined>;

  /** Throws `TooManyRules`, and `KeyReused` if the retry key was used with another rule. */
  create(accountId: string, rule: NewRule, change: RuleCreation): Promise<CreatedRule>;

  /** Applies the changes that `decide` returns in the transaction. Writes nothing and rethrows if `decide` throws. */
  update(accountId: string, ruleId: string, change: RuleUpdate): Promise<Rule | undefined>;

  /** Deletes a rule unless `check` throws for the stored one. Returns false if the rule does not exist. */
  delete(accountId: string, ruleId: string, change: RuleDeletion): Promise<boolean>;

  /** Deletes all rules of an account. Returns their number. */
  deleteAll(accountId: string, actor: Actor): Promise<number>;

  /**
   * Calls the listener with the account id after each change of its rules: at once for changes through this store,
   * within a second for changes by other processes. Returns a function that unsubscribes.
   */
  onChange(listener: (accountId: string) => void): () => void;
}

export interface RuleCreation {
  readonly actor: Actor;
  /** `Idempotency-Key` of the request. Repeating a creation with the same key returns the first result. */
  readonly retryKey?: string | undefined;
}

export interface RuleUpdate {
  readonly decide: (stored: Rule) => Partial<RuleSettings>;
  readonly actor: Actor;
}

export interface RuleDeletion {
  readonly check: (stored: Rule) => void;
  readonly actor: Actor;
}

export interface CreatedRule {
  readonly rule: Rule;
  readonly overrides: readonly string[];
  /** Whether this is the result of an earlier creation with the same retry key. */
  readonly replayed: boolean;
}

/** Time for which the result of a create is kept for its retry key: 24 hours. */
export const RETRY_KEY_LIFE_MS = 24 * 60 * 60 * 1000;
