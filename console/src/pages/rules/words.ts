import type { Rule } from '../../api/types.ts';

export type Mode = Rule['mode'];
export const modes = ['disabled', 'monitoring', 'enabled'] as const satisfies readonly Mode[];

/** What a mode does, behind the name of a place: `Queries there are …`. */
export const modeWords: Readonly<Record<Mode, string>> = {
  disabled: 'every query passes',
  monitoring: 'what it would refuse is counted, and passes',
  enabled: 'what finds no token is refused',
};

/** `everywhere`, `region WEUR`, `datacenter lax` */
export const placeOf = ({ scope, name }: Pick<Rule, 'scope' | 'name'>): string =>
  scope === 'global' ? 'everywhere' : `${scope} ${name}`;

const RANK = { datacenter: 0, region: 1, global: 2 } as const;
const targetOf = ({ scope, name }: Rule): string =>
  scope === 'global' ? scope : `${scope} ${name.toLowerCase()}`;

/** The most specific first, then by name; of one place the one that counts first. */
export const byPlace = (rules: readonly Rule[]): Rule[] =>
  rules.toSorted(
    (one, other) =>
      RANK[one.scope] - RANK[other.scope] ||
      (targetOf(one) === targetOf(other)
        ? other.modified_on.localeCompare(one.modified_on)
        : one.name.localeCompare(other.name)),
  );

/** The ids of rules over which another for the same place decides, as it was modified later. */
export function supersededIn(rules: readonly Rule[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const superseded = new Set<string>();
  for (const rule of byPlace(rules)) {
    const target = targetOf(rule);
    if (seen.has(target)) superseded.add(rule.id);
    seen.add(target);
  }
  return superseded;
}

/** Who decides at a place that this rule is taken from, in words. */
export function fallbackOf(rule: Rule, rules: readonly Rule[]): string {
  const others = rules.filter(({ id }) => id !== rule.id);
  const same = byPlace(others).find((other) => targetOf(other) === targetOf(rule));
  if (same !== undefined)
    return `Queries there fall back to the other rule for ${placeOf(same)}, which is ${same.mode}.`;
  const wide = byPlace(others).find(({ scope }) => scope === 'global');
  if (rule.scope !== 'global' && wide !== undefined)
    return `Queries there fall back to a rule for their region, or to the one for everywhere, which is ${wide.mode}.`;
  return rule.scope === 'global'
    ? 'Where no rule names the place, no rule is in force then, and every query passes.'
    : 'Without a rule for their region no rule is in force there, and every query passes.';
}
