import type { ProtectionRule } from './ports.ts';

/** Where a guard stands. Names are compared without regard to case. */
export interface Place {
  readonly region?: string;
  readonly datacenter?: string;
}

const RANK = { global: 1, region: 2, datacenter: 3 } as const;

/**
 * The rule in force at a place: the most specific scope that names the place (datacenter, region, global), the one
 * modified last among equals; undefined when none applies, and then nothing is protected. The published precedence.
 */
export function effectiveRule<R extends ProtectionRule>(rules: Iterable<R>, place: Place): R | undefined {
  let best: R | undefined;
  for (const rule of rules) {
    if (!applies(rule, place)) continue;
    if (best === undefined || outranks(rule, best)) best = rule;
  }
  return best;
}

function applies(rule: ProtectionRule, place: Place): boolean {
  if (rule.scope === 'global') return true;
  const here = rule.scope === 'region' ? place.region : place.datacenter;
  return here !== undefined && here.trim().toLowerCase() === rule.name.trim().toLowerCase();
}

/** The order is total, so that the order of the list decides nothing. */
function outranks(rule: ProtectionRule, other: ProtectionRule): boolean {
  if (rule.scope !== other.scope) return RANK[rule.scope] > RANK[other.scope];
  if (rule.modified_on !== other.modified_on) return isLater(rule.modified_on, other.modified_on);
  return rule.id > other.id;
}

/** `Date` knows milliseconds only: stamps within one are compared by their text, which has six digits and one offset. */
function isLater(stamp: string, other: string): boolean {
  const difference = Date.parse(stamp) - Date.parse(other);
  return difference === 0 || Number.isNaN(difference) ? stamp > other : difference > 0;
}
