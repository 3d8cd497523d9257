import type { NewRule } from './rule.ts';

/**
 * Returns a rule's target. Among rules with equal targets, the last modified is in force. All global rules have one
 * target regardless of name; names of regions and datacenters are case-insensitive.
 */
export function targetOf(rule: Pick<NewRule, 'scope' | 'name'>): string {
  return rule.scope === 'global' ? 'global' : `${rule.scope}:${rule.name.toLowerCase()}`;
}
