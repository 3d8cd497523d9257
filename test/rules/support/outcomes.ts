import { expect } from 'vitest';
import {
  type Actor,
  type AuditEntry,
  exampleRule,
  OutcomeUnknown,
  type Rule,
  type RulesStorage,
  StoreUnavailable,
} from '../../../src/rules/index.ts';

const actor: Actor = { by: 'token-1', from: '192.0.2.1' };

/** Runs writers, and records the outcome of each of their changes. */
export class Outcomes {
  readonly acknowledged: Rule[] = [];
  readonly #refused = new Set<string>();
  #next = 0;

  /** Creates, changes and deletes rules with unique names until `isFinished` returns true. */
  async write({ rules }: RulesStorage, account: string, isFinished: () => boolean): Promise<void> {
    while (!isFinished()) {
      const name = `n${++this.#next}`;
      try {
        const { item: rule } = await rules.create(account, { ...exampleRule, name }, { actor });
        this.acknowledged.push(rule);
        const changed = await rules.update(account, rule.id, { decide: () => ({ mode: 'disabled' }), actor });
        if (changed) this.acknowledged.push(changed);
        await rules.delete(account, rule.id, { check: () => undefined, actor });
      } catch (error) {
        expect(error).toBeInstanceOf(StoreUnavailable);
        if (!(error instanceof OutcomeUnknown) && !this.acknowledged.some((rule) => rule.name === name))
          this.#refused.add(name);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }

  /** Expects that the audit log contains every acknowledged change, no rejected one, and leads to the stored rules. */
  async expectConsistent({ rules, audit }: RulesStorage): Promise<void> {
    const all = await auditEntries(audit);
    const after = new Map(all.map((entry) => [entry.at, entry.after]));
    for (const rule of this.acknowledged) expect(after.get(rule.modified_on)).toEqual(rule);
    const states = new Map<string, Rule>();
    for (const entry of all) {
      if (!('rule' in entry)) continue;
      expect(entry.before).toEqual(states.get(entry.rule) ?? null);
      if (entry.after) states.set(entry.rule, entry.after);
      else states.delete(entry.rule);
      expect(this.#refused.has((entry.after ?? entry.before)?.name ?? '')).toBe(false);
    }
    const accounts = new Set(all.flatMap((entry) => ('account' in entry ? [entry.account] : [])));
    const held = await Promise.all([...accounts].map((account) => rules.list(account)));
    expect(new Map(held.flat().map((rule) => [rule.id, rule]))).toEqual(states);
  }
}

export async function auditEntries(audit: RulesStorage['audit']): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const entry of audit.read({})) found.push(entry);
  return found;
}
