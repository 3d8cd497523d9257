import { type Outcome, outcomeOf, outcomes, reasonOf, type Verdict, verdictOf } from '../detector/index.ts';

export interface Counts {
  readonly passed: number;
  /** Number of queries that an access list allowed. They are included in `passed`. */
  readonly allowed: number;
  readonly paid: number;
  readonly would_drop: number;
  readonly dropped: number;
  readonly truncated: number;
  /** Numbers of queries by reason and outcome, such as `{"unknownName": {"dropped": 7}}`. Excludes reason `none`. */
  readonly reasons: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const ALLOWED = verdictOf('passed', 'accessList');

export function countsOf(verdicts: readonly (readonly [number, number])[]): Counts {
  const totals = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>; // keys: outcomes
  const byReason: Record<string, Record<string, number>> = {};
  let allowed = 0;
  for (const [number, queries] of verdicts) {
    const verdict = number as Verdict; // numbers are stored verdicts
    const outcome = outcomeOf(verdict);
    const reason = reasonOf(verdict);
    totals[outcome] += queries;
    if (verdict === ALLOWED) allowed += queries;
    if (reason === 'none' || queries === 0) continue;
    byReason[reason] ??= {};
    const counts = byReason[reason];
    counts[wireName[outcome]] = (counts[wireName[outcome]] ?? 0) + queries;
  }
  const { passed, paid, wouldDrop, dropped, truncated } = totals;
  return { passed, allowed, paid, would_drop: wouldDrop, dropped, truncated, reasons: byReason };
}

const wireName: Readonly<Record<Outcome, string>> = {
  passed: 'passed',
  paid: 'paid',
  wouldDrop: 'would_drop',
  dropped: 'dropped',
  truncated: 'truncated',
};
