import { type Outcome, outcomeOf, outcomes, reasonOf, type Verdict } from '../detector/index.ts';

/** What came of queries. */
export interface Counts {
  readonly passed: number;
  readonly paid: number;
  readonly would_drop: number;
  readonly dropped: number;
  readonly truncated: number;
  /** Those that had to pay, by why and by what came of it: `{"unknownName": {"dropped": 7}}`. */
  readonly reasons: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export function countsOf(verdicts: readonly (readonly [number, number])[]): Counts {
  const totals = Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>; // its keys are outcomes
  const byReason: Record<string, Record<string, number>> = {};
  for (const [number, queries] of verdicts) {
    const verdict = number as Verdict; // stored as it was given
    const outcome = outcomeOf(verdict);
    const reason = reasonOf(verdict);
    totals[outcome] += queries;
    if (reason === 'none' || queries === 0) continue;
    byReason[reason] ??= {};
    const counts = byReason[reason];
    counts[wireName[outcome]] = (counts[wireName[outcome]] ?? 0) + queries;
  }
  const { passed, paid, wouldDrop, dropped, truncated } = totals;
  return { passed, paid, would_drop: wouldDrop, dropped, truncated, reasons: byReason };
}

const wireName: Readonly<Record<Outcome, string>> = {
  passed: 'passed',
  paid: 'paid',
  wouldDrop: 'would_drop',
  dropped: 'dropped',
  truncated: 'truncated',
};
