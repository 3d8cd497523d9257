import type { Actor } from './audit.ts';
import type { NewRule, Rule, RuleSettings } from './rule.ts';

/**
 * Where rules are kept. Every write is durable when its promise resolves, leaves its audit entry in the same
 * transaction, and is whole or not there at all. `StoreUnavailable` is thrown where the engine cannot do it now.
 */
export interface RuleStore {
  /**
   * The rules of an account by `created_on`, then `id`; frozen. While nothing changed the same array comes back, so
   * that a caller may key on it what it made from it.
   */
  list(accountId: string): Promise<readonly Rule[]>;

  get(accountId: string, ruleId: string): Promise<Rule | undefined>;

  /** Throws `TooManyRules`, and `KeyReused` where the retry key came before with another rule. */
  create(accountId: string, rule: NewRule, change: RuleCreation): Promise<CreatedRule>;

  /**
   * Changes a rule by what `decide` makes of the stored one, inside the transaction. An empty decision changes
   * nothing. What `decide` throws comes out, with nothing written. Undefined where there is no such rule.
   */
  update(accountId: string, ruleId: string, change: RuleUpdate): Promise<Rule | undefined>;

  /** Deletes a rule unless `check` throws on the stored one. False where there is no such rule. */
  delete(accountId: string, ruleId: string, change: RuleDeletion): Promise<boolean>;

  /** Deletes every rule of an account. Returns how many there were. */
  deleteAll(accountId: string, actor: Actor): Promise<number>;

  /**
   * Calls back with an account id each time that rules of it changed: at once for a change made through this
   * store, within a second for one made by another process. Returns a function that ends it.
   */
  onChange(listener: (accountId: string) => void): () => void;
}

export interface RuleCreation {
  readonly actor: Actor;
  /** The same creation, sent again with the same key, has the first one's answer. */
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
  /** Ids of the older rules with the same target, over which the new one now decides. */
  readonly overrides: readonly string[];
  /** True where this is the first answer again, to a create retried with the same key. */
  readonly replayed: boolean;
}

/** How long a retried create finds its first answer: 24 hours. */
export const RETRY_KEY_LIFE_MS = 24 * 60 * 60 * 1000;
