import type { Rule } from './rule.ts';
import { targetOf } from './target.ts';

/** Where packets arrive. A guard that was told neither is covered by global rules alone. */
export interface Place {
  readonly datacenter?: string | undefined;
  readonly region?: string | undefined;
}

/**
 * The rule that applies at a place, or undefined where none does. The most specific scope wins, then the rule
 * modified last. A disabled rule wins like any other: it is how a place is exempted from a wider rule.
 */
export function effectiveRule(rules: Iterable<Rule>, place: Place): Rule | undefined {
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
