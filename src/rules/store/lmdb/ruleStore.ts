import { randomUUID } from 'node:crypto';
import {
  type Actor,
  type CreatedRule,
  formatTimestamp,
  type IdempotencyRecord,
  MAX_RULES_PER_ACCOUNT,
  type Micros,
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
import { RulesChangeFeed } from './changeFeed.ts';
import { auditWrite, type RulesEnvironment } from './environment.ts';
import type { Decision, Write } from './groupCommit.ts';
import { IdempotencyRecords, type Retry } from './idempotencyRecords.ts';

/** Rules in LMDB, keyed by account and id. The stored `changedAt` of an account shows if cached rules are current. */
export class LmdbRuleStore implements RuleStore {
  readonly #environment: RulesEnvironment;
  readonly #format: RuleFormat;
  readonly #firstAnswers: IdempotencyRecords;
  readonly #snapshots = new SnapshotCache<Rule>();
  readonly #feed: RulesChangeFeed;

  constructor(environment: RulesEnvironment, format: RuleFormat) {
    this.#environment = environment;
    this.#format = format;
    this.#firstAnswers = new IdempotencyRecords(environment);
    this.#feed = new RulesChangeFeed(environment, environment.accounts);
  }

  async list(accountId: string): Promise<readonly Rule[]> {
    this.#environment.refresh();
    return this.#read(accountId);
  }

  async get(accountId: string, ruleId: string): Promise<Rule | undefined> {
    this.#environment.refresh();
    return this.#stored(accountId, ruleId);
  }

  async create(accountId: string, fields: NewRule, { actor, retryKey }: RuleCreation): Promise<CreatedRule> {
    const retry =
      retryKey === undefined
        ? undefined
        : this.#firstAnswers.retryOf(accountId, retryKey, this.#format.canonicalText(fields));
    const created = await this.#environment.commits.run<CreatedRule>(() => {
      const first = retry && this.#firstAnswers.find(retry);
      if (first) return { result: this.#replayed(first), writes: [] };
      return this.#decideCreate(accountId, fields, { actor, retry });
    });
    if (!created.replayed) this.#tell(accountId);
    return created;
  }

  async update(accountId: string, ruleId: string, { decide, actor }: RuleUpdate): Promise<Rule | undefined> {
    const { after, changed } = await this.#environment.commits.run<Updated>(() => {
      const before = this.#stored(accountId, ruleId);
      if (!before) return { result: { after: undefined, changed: false }, writes: [] };
      const settings = decide(before);
      if (Object.keys(settings).length === 0)
        return { result: { after: before, changed: false }, writes: [] };
      const moment = this.#environment.nextMoment();
      const rule: Rule = { ...before, ...settings, modified_on: formatTimestamp(moment) };
      const change = {
        action: 'rule.update',
        account: accountId,
        rule: ruleId,
        before,
        after: rule,
      } as const;
      const writes = this.#writesOf([{ ...stamp(moment, actor), ...change }], moment);
      return { result: { after: rule, changed: true }, writes };
    });
    if (changed) this.#tell(accountId);
    return after;
  }

  async delete(accountId: string, ruleId: string, { check, actor }: RuleDeletion): Promise<boolean> {
    const deleted = await this.#environment.commits.run(
      () => {
        const before = this.#stored(accountId, ruleId);
        if (!before) return { result: false, writes: [] };
        check(before);
        return { result: true, writes: this.#deletionOf(accountId, [before], actor) };
      },
      { makesRoom: true },
    );
    if (deleted) this.#tell(accountId);
    return deleted;
  }

  async deleteAll(accountId: string, actor: Actor): Promise<number> {
    const deleted = await this.#environment.commits.run(
      () => {
        const rules = this.#scan(accountId);
        return {
          result: rules.length,
          writes: rules.length ? this.#deletionOf(accountId, rules, actor) : [],
        };
      },
      { makesRoom: true },
    );
    if (deleted > 0) this.#tell(accountId);
    return deleted;
  }

  onChange(listener: (accountId: string) => void): () => void {
    return this.#feed.listen(listener);
  }

  close(): void {
    this.#feed.stop();
  }

  #decideCreate(
    accountId: string,
    fields: NewRule,
    { actor, retry }: { readonly actor: Actor; readonly retry: Retry | undefined },
  ): Decision<CreatedRule> {
    const count = this.#environment.accounts.get(accountId)?.count ?? 0;
    if (count >= MAX_RULES_PER_ACCOUNT) throw new TooManyRules(accountId, MAX_RULES_PER_ACCOUNT);
    const moment = this.#environment.nextMoment();
    const timestamp = formatTimestamp(moment);
    const rule: Rule = { id: randomUUID(), ...fields, created_on: timestamp, modified_on: timestamp };
    const overrides = this.#idsOfTarget(accountId, targetOf(rule));
    const change = {
      action: 'rule.create',
      account: accountId,
      rule: rule.id,
      before: null,
      after: rule,
    } as const;
    const writes = this.#writesOf([{ ...stamp(moment, actor), ...change }], moment);
    const kept = retry ? this.#firstAnswers.keep(retry, { created: rule, overrides }, moment) : [];
    return { result: { rule, overrides, replayed: false }, writes: [...writes, ...kept] };
  }

  #replayed({ created, overrides }: IdempotencyRecord): CreatedRule {
    // The fingerprint of the request was compared, so the key was used to create a rule.
    return { rule: this.#format.withDefaults(created as Rule), overrides, replayed: true };
  }

  /** Returns the records to write when rules are deleted. Each deletion gets a unique time. */
  #deletionOf(accountId: string, rules: readonly Rule[], actor: Actor): Write[] {
    const first = this.#environment.nextMoment();
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
    return this.#writesOf(changes, first);
  }

  #writesOf(changes: readonly RuleChange[], firstMoment: Micros): Write[] {
    const { rules, accounts } = this.#environment;
    const writes: Write[] = [];
    let added = 0;
    for (const [index, change] of changes.entries()) {
      const key = [change.account, change.rule];
      writes.push(change.after ? { database: rules, key, value: change.after } : { database: rules, key });
      writes.push(...this.#targetWrites(change));
      writes.push(auditWrite(this.#environment, firstMoment + index, change));
      added += (change.after ? 1 : 0) - (change.before ? 1 : 0);
    }
    const accountId = changes[0]?.account;
    if (accountId === undefined) return writes;
    const changedAt = firstMoment + changes.length - 1;
    const count = (accounts.get(accountId)?.count ?? 0) + added;
    writes.push({ database: accounts, key: accountId, value: { count, changedAt } });
    writes.push(this.#environment.clockAt(changedAt));
    return writes;
  }

  /** Returns the writes to the index of targets. A rule's target never changes, so an update needs none. */
  #targetWrites({ account, rule, before, after }: RuleChange): Write[] {
    const database = this.#environment.targets;
    if (!before && after) return [{ database, key: [account, targetOf(after), rule], value: true }];
    if (before && !after) return [{ database, key: [account, targetOf(before), rule] }];
    return [];
  }

  #idsOfTarget(accountId: string, target: string): string[] {
    const range = { start: [accountId, target], end: [accountId, target, LAST_ID] };
    return [...this.#environment.targets.getKeys(range)].flatMap(([, , id]) => id ?? []);
  }

  #stored(accountId: string, ruleId: string): Rule | undefined {
    const rule = this.#environment.rules.get([accountId, ruleId]);
    return rule && this.#format.withDefaults(rule);
  }

  #read(accountId: string): readonly Rule[] {
    const changedAt = this.#environment.accounts.get(accountId)?.changedAt;
    if (changedAt === undefined) return NO_RULES;
    const known = this.#snapshots.get(accountId, changedAt);
    if (known) return known;
    const rules = Object.freeze(this.#scan(accountId));
    this.#snapshots.set(accountId, changedAt, rules);
    return rules;
  }

  #scan(accountId: string): Rule[] {
    const rules: Rule[] = [];
    for (const { value } of this.#environment.rules.getRange({
      start: [accountId],
      end: [accountId, LAST_ID],
    }))
      rules.push(Object.freeze(this.#format.withDefaults(value)));
    return rules.sort(byCreation);
  }

  #tell(accountId: string): void {
    this.#feed.notify(accountId, this.#environment.accounts.get(accountId)?.changedAt ?? 0);
  }
}

interface Updated {
  readonly after: Rule | undefined;
  readonly changed: boolean;
}

const NO_RULES: readonly Rule[] = Object.freeze([]);

/** Sorts after every rule id, which is a UUID. */
const LAST_ID = '\uffff';

function byCreation(a: Rule, b: Rule): number {
  if (a.created_on !== b.created_on) return a.created_on < b.created_on ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
