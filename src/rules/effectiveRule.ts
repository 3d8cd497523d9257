import type { Rule } from './rule.ts';
import { targetOf } from './target.ts';

/** Location of a guard. Without datacenter and region, only global rules apply to it. */
export interface GuardLocation {
  readonly datacenter?: string | undefined;
  readonly region?: string | undefined;
}

/**
 * Returns the rule in force at a location, or undefined. The most specific scope wins, then the last modified rule.
 * Disabled rules compete too, because a disabled rule exempts a location from a wider rule.
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
