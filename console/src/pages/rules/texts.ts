export type Mode = Rule['mode'];
export const modes = ['disabled', 'monitoring', 'enabled'] as const satisfies readonly Mode[];

export const modeEffects: Readonly<Record<Mode, string>> = {
  disabled: 'every query passes unless it is denied',
  monitoring: 'queries that it would drop are counted, and pass',
  enabled: 'queries that find no token are dropped or truncated',
};

/** Returns the scope of a rule as text: `everywhere`, `region WEUR`, `datacenter lax`. */
export const scopeText = ({ scope, name }: Pick<Rule, 'scope' | 'name'>): string =>
  scope === 'global' ? 'everywhere' : `${scope} ${name}`;

const RANK = { datacenter: 0, region: 1, global: 2 } as const;
const targetOf = ({ scope, name }: Rule): string =>
  scope === 'global' ? scope : `${scope} ${name.toLowerCase()}`;

/**
 * Sorts rules by scope, most specific first, then by name in natural order. Of rules with equal scope and name, the
 * newest is first.
 */
export const bySpecificity = (rules: readonly Rule[]): Rule[] =>
  rules.toSorted(
    (one, other) =>
      RANK[one.scope] - RANK[other.scope] ||
      (targetOf(one) === targetOf(other)
        ? other.modified_on.localeCompare(one.modified_on)
        : one.name.localeCompare(other.name, 'en', { numeric: true })),
  );

/** Returns the ids of rules that never apply, because a rule with the same scope and name was modified later. */
export function supersededIn(rules: readonly Rule[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const superseded = new Set<string>();
  for (const rule of bySpecificity(rules)) {
    const target = targetOf(rule);
    if (seen.has(target)) superseded.add(rule.id);
    seen.add(target);
  }
  return superseded;
}

/** Returns a sentence about the rule that will apply after `rule` is deleted. */
export function fallbackOf(rule: Rule, rules: readonly Rule[]): string {
  if (supersededIn(rules).has(rule.id)) return 'Nothing changes: the rule is not in force.';
  const others = bySpecificity(rules.filter(({ id }) => id !== rule.id));
  const same = others.find((other) => targetOf(other) === targetOf(rule));
  if (same !== undefined)
    return `Queries there fall back to the other rule for ${scopeText(same)}, which is ${same.mode}.`;
  const wide = others.find(({ scope }) => scope === 'global');
  if (wide !== undefined)
    return `Queries there fall back to ${rule.scope === 'datacenter' ? 'a rule for their region, or to the one' : 'the rule'} for everywhere, which is ${wide.mode}.`;
  return rule.scope === 'datacenter'
    ? 'Without a rule for their region, no rule is in force there, and every query passes unless it is denied.'
    : 'At other locations, no rule is in force, and every query passes unless it is denied.';
}

import type { Rule } from '../../api/types.ts';
