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

/** What writers were told of their changes. */
export class Outcomes {
  readonly acknowledged: Rule[] = [];
  readonly #refused = new Set<string>();
  #next = 0;

  /** Creates rules, each with a name of its own, and changes them, until it is over. */
  async write({ rules }: RulesStorage, account: string, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const name = `n${++this.#next}`;
      try {
        const { rule } = await rules.create(account, { ...exampleRule, name }, { actor });
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

  /** All that was acknowledged is in the audit, nothing that was refused, and the rules are what the audit says. */
  async expectHeld({ rules, audit }: RulesStorage): Promise<void> {
    const all = await entries(audit);
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

export async function entries(audit: RulesStorage['audit']): Promise<AuditEntry[]> {
  const found: AuditEntry[] = [];
  for await (const entry of audit.read({})) found.push(entry);
  return found;
}
