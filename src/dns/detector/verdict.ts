/**
 * The verdict on a query is its outcome and the reason for it, combined in one small number, so that no object is
 * allocated per packet.
 */

/**
 * Outcomes of a query:
 * - `passed`: the query needed no token.
 * - `paid`: the query took a token.
 * - `wouldDrop`: the query exceeded a limit, but passed because the rule only monitors or may not drop yet.
 * - `dropped`: the query gets no answer, or REFUSED over TCP.
 * - `truncated`: the query is answered with TC=1.
 */
export const outcomes = ['passed', 'paid', 'wouldDrop', 'dropped', 'truncated'] as const;
export type Outcome = (typeof outcomes)[number];

/**
 * Reasons of a verdict:
 * - `none`: none of the following reasons.
 * - `unknownName`, `unknownType`, `aboveUsual`, `zoneRate`: the query needed a token, because its name is unknown, is
 *   not known with this type, is above its usual rate, or is in a zone judged by query rate.
 * - `clientRate`: the client exceeded its limit.
 * - `accessList`: an access list allowed or denied the query.
 * - `newClient`: all new clients together exceeded their limit.
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
/** Exclusive upper bound of verdict numbers. An array with one counter per verdict has this length. */
export const VERDICTS = outcomes.length << REASON_BITS;

/** Verdict on a query: `outcome * 8 + reason`, as indexes into `outcomes` and `reasons`. */
export type Verdict = number & { readonly __brand: 'Verdict' };

export const verdictOf = (outcome: Outcome, reason: Reason): Verdict =>
  ((outcomes.indexOf(outcome) << REASON_BITS) | reasons.indexOf(reason)) as Verdict; // the only constructor of verdicts

export const outcomeOf = (verdict: Verdict): Outcome => outcomes[verdict >>> REASON_BITS] ?? 'passed';
export const reasonOf = (verdict: Verdict): Reason => reasons[verdict & ((1 << REASON_BITS) - 1)] ?? 'none';

/** Lowest verdict on a limited query: dropped, truncated, or passed only because the rule may not drop. */
export const FIRST_LIMITED = verdictOf('wouldDrop', 'none');
/** Lowest verdict on a query that is not forwarded to the servers. */
export const FIRST_NOT_FORWARDED = verdictOf('dropped', 'none');
export const FIRST_TRUNCATION = verdictOf('truncated', 'none');
