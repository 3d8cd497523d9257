import type { NewRule } from './rule.ts';

/**
 * Returns the target of a rule, which identifies the locations that it applies to. Of several rules with one target,
 * the last modified is in force. All global rules have one target; names of locations are case-insensitive.
 */
export function targetOf(rule: Pick<NewRule, 'scope' | 'name'>): string {
  return rule.scope === 'global' ? 'global' : `${rule.scope}:${rule.name.toLowerCase()}`;
}
