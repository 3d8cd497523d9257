import {
  type Actor,
  type CreatedRule,
  MAX_RULES_PER_ACCOUNT,
  type NewRule,
  type Rule,
  type RuleCreation,
  type RuleDeletion,
  type RuleFormat,
  type RuleStore,
  type RuleUpdate,
  ruleChange,
  TooManyRules,
  targetOf,
} from '../../index.ts';
import { AuditedRecords } from './auditedRecords.ts';
import type { AccountCount, RulesEnvironment } from './environment.ts';

/** Sorts after every rule id, which is a UUID. */
const LAST_ID = '\uffff';

/** Rules in LMDB, keyed by account and id, with an index of their targets. */
export class LmdbRuleStore implements RuleStore {
  readonly #environment: RulesEnvironment;
  readonly #records: AuditedRecords<Rule, NewRule, AccountCount>;

  constructor(environment: RulesEnvironment, format: RuleFormat) {
    this.#environment = environment;
    const { rules: records, accounts: states, targets } = environment;
    this.#records = new AuditedRecords(environment, {
      ...{ records, states },
      stateOf: (_, before, added) => ({ count: (before?.count ?? 0) + added }),
      changeOf: ([account], rule) => ruleChange(account, rule),
      indexOf: (account, rule) => ({
        database: targets,
        key: [account, targetOf(rule), rule.id],
        value: true,
      }),
      complete: (rule) => format.withDefaults(rule),
      canonicalText: (fields) => format.canonicalText(fields),
    });
  }

  async list(accountId: string): Promise<readonly Rule[]> {
    return this.#records.list(accountId);
  }

  async get(accountId: string, ruleId: string): Promise<Rule | undefined> {
    return this.#records.get([accountId], ruleId);
  }

  async create(accountId: string, fields: NewRule, creation: RuleCreation): Promise<CreatedRule> {
    const { accounts, targets } = this.#environment;
    const check = (): string[] => {
      if ((accounts.get(accountId)?.count ?? 0) >= MAX_RULES_PER_ACCOUNT)
        throw new TooManyRules(accountId, MAX_RULES_PER_ACCOUNT);
      const start = [accountId, targetOf(fields)];
      const keys = targets.getKeys({ start, end: [...start, LAST_ID] });
      return [...keys].flatMap(([, , id]) => id ?? []);
    };
    const { item, ...created } = await this.#records.create([accountId], fields, { ...creation, check });
    return { rule: item, ...created };
  }

  update(accountId: string, ruleId: string, change: RuleUpdate): Promise<Rule | undefined> {
    return this.#records.update([accountId], ruleId, change);
  }

  delete(accountId: string, ruleId: string, change: RuleDeletion): Promise<boolean> {
    return this.#records.delete([accountId], ruleId, change);
  }

  deleteAll(accountId: string, actor: Actor): Promise<number> {
    return this.#records.deleteAll([accountId], actor);
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#records.onChange(listener);
  }

  close(): void {
    this.#records.close();
  }
}
