/** What the guard decides about a query, and why: two small numbers in one, because it is made for every packet. */

/** `passed` without paying; `paid` a token; `wouldDrop` in monitoring; `dropped`; `truncated`: answered TC=1. */
export const outcomes = ['passed', 'paid', 'wouldDrop', 'dropped', 'truncated'] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * Why a query had to pay; `none` for one that did not. `clientRate`: its client asks too much; `newClient`: clients that
 * were not here before ask too much together; `accessList`: an entry of the lists allows it or denies it, and nothing else was looked at.
 */
export const reasons = [
  'none',
  'unknownName',
  'unknownType',
  'aboveUsual',
  'zoneRate',
  'clientRate',
  'accessList',
  'newClient',
] as const;
export type Reason = (typeof reasons)[number];

const REASON_BITS = 3;
/** Verdicts are below this number: the length of a table of counters. */
export const VERDICTS = outcomes.length << REASON_BITS;

/** A verdict is `outcome * 8 + reason`, both as indexes of the lists above. */
export type Verdict = number & { readonly __brand: 'Verdict' };

export const verdictOf = (outcome: Outcome, reason: Reason): Verdict =>
  ((outcomes.indexOf(outcome) << REASON_BITS) | reasons.indexOf(reason)) as Verdict; // the one maker of verdicts

export const outcomeOf = (verdict: Verdict): Outcome => outcomes[verdict >>> REASON_BITS] ?? 'passed';
export const reasonOf = (verdict: Verdict): Reason => reasons[verdict & ((1 << REASON_BITS) - 1)] ?? 'none';

/** This verdict and those above are what an attack costs: refused, or would be were the rule enabled. */
export const FIRST_UNPAID = verdictOf('wouldDrop', 'none');
/** Verdicts below go to the servers, this one and those above do not. */
export const FIRST_REFUSAL = verdictOf('dropped', 'none');
export const FIRST_TRUNCATION = verdictOf('truncated', 'none');
