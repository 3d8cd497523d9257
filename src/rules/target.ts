import type { NewRule } from './rule.ts';

/**
 * What a rule is aimed at: rules with equal targets compete, and the one modified last decides. Every global rule
 * has the same target, whatever its label; places are compared without regard to case (decisions A).
 */
export function targetOf(rule: Pick<NewRule, 'scope' | 'name'>): string {
  return rule.scope === 'global' ? 'global' : `${rule.scope}:${rule.name.toLowerCase()}`;
}
