import type { Rule } from './rule.ts';
import { targetOf } from './target.ts';

/** Location of a guard. If it names no datacenter or region, only global rules apply. */
export interface GuardLocation {
  readonly datacenter?: string | undefined;
  readonly region?: string | undefined;
}

/**
 * Returns the rule in force at a location, or undefined if no rule applies. The most specific scope wins; within a
 * scope, the rule that was modified last. A disabled rule can win too, and exempts its location from wider rules.
 */
export function effectiveRule(rules: Iterable<Rule>, place: GuardLocation): Rule | undefined {
  const targets = [
    place.datacenter === undefined ? undefined : targetOf({ scope: 'datacenter', name: place.datacenter }),
    place.region === undefined ? undefined : targetOf({ scope: 'region', name: place.region }),
    'global',
  ];
  let best: Rule | undefined;
  let bestRank = targets.length;
  for (const rule of rules) {
    const rank = targets.indexOf(targetOf(rule));
    if (rank === -1 || rank > bestRank) continue;
    if (rank < bestRank || best === undefined || rule.modified_on > best.modified_on) {
      best = rule;
      bestRank = rank;
    }
  }
  return best;
}
