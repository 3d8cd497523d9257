import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type CreatedRule,
  formatTimestamp,
  MAX_RULES_PER_ACCOUNT,
  type NewRule,
  type Rule,
  type RuleChange,
  type RuleCreation,
  type RuleDeletion,
  type RuleFormat,
  type RuleStore,
  type RuleUpdate,
  SnapshotCache,
  stamp,
  TooManyRules,
  targetOf,
} from '../../index.ts';
import { CachedCollections } from './cachedCollections.ts';
import type { Listeners } from './connection/listeners.ts';
import { statement } from './connection/statement.ts';
import { IdempotencyRecords, type Retry } from './idempotencyRecords.ts';
import type { StoreParts } from './storeParts.ts';
import { queries } from './tables.ts';
import type { Transaction } from './transaction.ts';

const COMPETING = `SELECT (SELECT count(*) FROM floodgate.rules WHERE account = $1) AS count,
  ARRAY(SELECT id FROM floodgate.rules WHERE account = $1 AND target = $2 ORDER BY id) AS ids`;
const NO_RULES: readonly Rule[] = Object.freeze([]);

/** Rules in PostgreSQL. The stored `rules_changed_at` of an account shows whether its cached rules are current. */
export class PostgresRuleStore implements RuleStore {
  readonly #parts: StoreParts;
  readonly #listeners: Listeners;
  readonly #format: RuleFormat;
  readonly #retryKeys: IdempotencyRecords;
  readonly collection: CachedCollections<Rule>;

  constructor(format: RuleFormat, parts: StoreParts) {
    this.#parts = parts;
    this.#format = format;
    this.#retryKeys = new IdempotencyRecords();
    this.#listeners = parts.feed.rules;
    this.collection = new CachedCollections({
      connections: parts.connections,
      snapshots: new SnapshotCache<Rule>(),
      changedAt: (account) =>
        queries
          .selectFrom('accounts')
          .select('rules_changed_at as at')
          .where('account', '=', account)
          .compile(),
      all: (account) =>
        queries
          .selectFrom('accounts')
          .leftJoin('rules', 'rules.account', 'accounts.account')
          .select(['accounts.rules_changed_at as at', 'rules.rule as item'])
          .where('accounts.account', '=', account)
          .orderBy('rules.created_on')
          .orderBy('rules.id')
          .compile(),
      finish: (rule) => Object.freeze(format.withDefaults(rule)),
    });
    this.#listeners.cached = () => this.collection.cached();
    this.#listeners.add((account) => this.collection.scheduleRead(account));
  }

  async list(accountId: string): Promise<readonly Rule[]> {
    return (await this.collection.read(accountId)) ?? NO_RULES;
  }

  async get(accountId: string, ruleId: string): Promise<Rule | undefined> {
    return this.collection.readOne(accountId, {
      query: storedRule(accountId, ruleId),
      isIt: (rule) => rule.id === ruleId,
    });
  }

  async create(accountId: string, fields: NewRule, { actor, retryKey }: RuleCreation): Promise<CreatedRule> {
    const retry =
      retryKey === undefined
        ? undefined
        : this.#retryKeys.retryOf(accountId, retryKey, this.#format.canonicalText(fields));
    const created = await this.#parts.commits.run(async (transaction): Promise<CreatedRule> => {
      const first = retry && (await this.#retryKeys.find(transaction, retry));
      if (first === undefined) return this.#insert(transaction, fields, { accountId, actor, retry });
      // The fingerprint of the request was compared, so the key was used to create a rule.
      const rule = this.#format.withDefaults(first.created as Rule);
      return { rule, overrides: first.overrides, replayed: true };
    });
    if (!created.replayed) this.#tell(accountId, created.rule.modified_on);
    return created;
  }

  async update(accountId: string, ruleId: string, { decide, actor }: RuleUpdate): Promise<Rule | undefined> {
    let changed = false;
    const rule = await this.#parts.commits.run(async (transaction) => {
      const before = await this.#stored(transaction, accountId, ruleId);
      const settings = before && decide(before);
      changed = settings !== undefined && Object.keys(settings).length > 0;
      if (before === undefined || !changed) return before;
      const moment = transaction.nextMoment();
      const after: Rule = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const change: RuleChange = {
        ...stamp(moment, actor),
        ...{ action: 'rule.update', account: accountId, rule: ruleId, before, after },
      };
      const query = queries
        .updateTable('rules')
        .set({ rule: JSON.stringify(after) })
        .where('account', '=', accountId)
        .where('id', '=', ruleId);
      await transaction.write(query, [change]);
      return after;
    });
    if (rule !== undefined && changed) this.#tell(accountId, rule.modified_on);
    return rule;
  }

  async delete(accountId: string, ruleId: string, { check, actor }: RuleDeletion): Promise<boolean> {
    const last = await this.#parts.commits.run(async (transaction) => {
      const before = await this.#stored(transaction, accountId, ruleId);
      if (before === undefined) return undefined;
      check(before);
      return deleteRules(transaction, [before], { accountId, actor });
    });
    if (last !== undefined) this.#tell(accountId, last);
    return last !== undefined;
  }

  async deleteAll(accountId: string, actor: Actor): Promise<number> {
    const { count, last } = await this.#parts.commits.run(async (transaction) => {
      const rows = await transaction.read(
        queries
          .selectFrom('rules')
          .select('rule')
          .where('account', '=', accountId)
          .orderBy('created_on')
          .orderBy('id')
          .compile(),
      );
      const rules = rows.map(({ rule }) => this.#format.withDefaults(rule));
      if (rules.length === 0) return { count: 0, last: undefined };
      return { count: rules.length, last: await deleteRules(transaction, rules, { accountId, actor }) };
    });
    if (last !== undefined) this.#tell(accountId, last);
    return count;
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  async #insert(
    transaction: Transaction,
    fields: NewRule,
    { accountId, actor, retry }: Insertion,
  ): Promise<CreatedRule> {
    const target = targetOf(fields);
    const [competing] = await transaction.read(
      statement<{ count: number; ids: string[] }>(COMPETING, [accountId, target]),
    );
    if ((competing?.count ?? 0) >= MAX_RULES_PER_ACCOUNT)
      throw new TooManyRules(accountId, MAX_RULES_PER_ACCOUNT);
    const moment = transaction.nextMoment();
    const timestamp = formatTimestamp(moment);
    const rule: Rule = { id: randomUUID(), ...fields, created_on: timestamp, modified_on: timestamp };
    const change: RuleChange = {
      ...stamp(moment, actor),
      ...{ action: 'rule.create', account: accountId, rule: rule.id, before: null, after: rule },
    };
    const { id, created_on } = rule;
    const row = { account: accountId, id, target, created_on, rule: JSON.stringify(rule) };
    await transaction.write(queries.insertInto('rules').values(row), [change]);
    const overrides = competing?.ids ?? [];
    if (retry) await this.#retryKeys.keep(transaction, retry, { created: rule, overrides, at: moment });
    return { rule, overrides, replayed: false };
  }

  async #stored(transaction: Transaction, accountId: string, ruleId: string): Promise<Rule | undefined> {
    const [row] = await transaction.read(storedRule(accountId, ruleId));
    return row && this.#format.withDefaults(row.item);
  }

  #tell(accountId: string, changedOn: string): void {
    this.#listeners.notify(accountId, changedOn);
  }
}

interface Insertion {
  readonly accountId: string;
  readonly actor: Actor;
  readonly retry: Retry | undefined;
}

const storedRule = (accountId: string, ruleId: string) =>
  queries
    .selectFrom('rules')
    .select('rule as item')
    .where('account', '=', accountId)
    .where('id', '=', ruleId)
    .compile();

/** Deletes rules of an account, each with a unique time. Returns the time of the last deletion. */
async function deleteRules(
  transaction: Transaction,
  rules: readonly Rule[],
  { accountId, actor }: { readonly accountId: string; readonly actor: Actor },
): Promise<string> {
  const first = transaction.nextMoment(rules.length);
  const changes = rules.map((before, index): RuleChange => {
    const change = {
      action: 'rule.delete',
      account: accountId,
      rule: before.id,
      before,
      after: null,
    } as const;
    return { ...stamp(first + index, actor), ...change };
  });
  const ids = rules.map(({ id }) => id);
  const query = queries.deleteFrom('rules').where('account', '=', accountId).where('id', 'in', ids);
  await transaction.write(query, changes);
  return changes.at(-1)?.at ?? '';
}
