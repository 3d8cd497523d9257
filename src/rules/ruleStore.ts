import type { Actor } from './audit.ts';
import type { AuditedRecords, Created, Creation, Deletion, Update } from './auditedRecords.ts';
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
  create(accountId: string, rule: NewRule, creation: Creation): Promise<CreatedRule>;

  /**
   * Passes the stored rule to `decide` and applies the settings that it returns, in one transaction. If `decide`
   * throws, nothing is written and the error is rethrown.
   */
  update(
    accountId: string,
    ruleId: string,
    update: Update<Rule, Partial<RuleSettings>>,
  ): Promise<Rule | undefined>;

  /** Deletes a rule unless `check` throws for it. Returns false if the rule does not exist. */
  delete(accountId: string, ruleId: string, deletion: Deletion<Rule>): Promise<boolean>;

  /** Deletes all rules of an account. Returns the number of deleted rules. */
  deleteAll(accountId: string, actor: Actor): Promise<number>;

  /**
   * Calls the listener with the account id after each change of an account's rules: at once if this process made the
   * change, within two seconds if another process or instance made it. Returns a function that unsubscribes.
   */
  onChange(listener: (accountId: string) => void): () => void;
}

export interface CreatedRule extends Omit<Created<Rule>, 'item'> {
  readonly rule: Rule;
}

export const ruleStoreOf = (records: AuditedRecords<Rule, NewRule>): RuleStore => ({
  list: (account) => records.list([account]),
  get: (account, id) => records.get([account], id),
  async create(account, fields, creation) {
    const { item: rule, ...created } = await records.create([account], fields, creation);
    return { rule, ...created };
  },
  update: (account, id, update) => records.update([account], id, update),
  delete: (account, id, deletion) => records.delete([account], id, deletion),
  deleteAll: (account, actor) => records.deleteAll([account], actor),
  onChange: (listener) => records.onChange(listener),
});

/** Time for which the result of a creation is stored under its retry key: 24 hours. */
export const RETRY_KEY_LIFE_MS = 24 * 60 * 60 * 1000;
