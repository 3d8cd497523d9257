/** Judges from the counts of a zone whether a rule can be enabled for it. docs/reference/zone-assessments.md */
import { reserveOf } from '../limits/payment.ts';
import { BURST_FACTOR } from '../limits/thresholds.ts';
import type { SpanCounts } from './zoneHistory.ts';

/**
 * - `safe_to_enable`: at most 0.1 % of the queries would be limited.
 * - `needs_rate`: more would be limited; a policy that sets the zone's rate prevents that.
 * - `still_learning`: the zone had less than one hour of traffic, or its names are still being loaded.
 * - `under_attack`: more would be limited, but mostly because of an attack.
 */
export const assessments = ['safe_to_enable', 'needs_rate', 'still_learning', 'under_attack'] as const;
export type Assessment = (typeof assessments)[number];

/** Rate and burst for the policy of a zone that is judged by rate. */
export interface ProposedRate {
  readonly rate: number;
  readonly burst: number;
}

const MIN_MINUTES = 60;
/** Share of a zone's queries that may be limited. */
const TOLERATED_SHARE = 0.001;
/** An attack explains what would be limited if more than this part of it is from an attack. */
const MOSTLY = 0.5;
/** Factor between the busiest minute and the proposed rate, as in learned limits at sensitivity `medium`. */
const HEADROOM = 3;
/** Ten seconds are counted in fixed steps. Any ten seconds contain at most twice as many queries as the busiest step. */
const BURST_HEADROOM = 2;
/** Limits of the fields of a policy. */
const MAX_RATE = 400_000;
const MAX_BURST = 2_000_000;

export interface AssessedSpans {
  readonly hour: SpanCounts;
  readonly day: SpanCounts;
  readonly week: SpanCounts;
}

/** `level`: index of the sensitivities in force. */
export function assess(
  { hour, day, week }: AssessedSpans,
  { level, awaitsNames }: { readonly level: number; readonly awaitsNames: boolean },
): Assessment {
  if (awaitsNames || week.minutes < MIN_MINUTES) return 'still_learning';
  const limited = day.limited[level] ?? 0;
  const suspect = day.limitedInSuspect[level] ?? 0;
  const tolerated = day.queries * TOLERATED_SHARE;
  if (limited <= tolerated) return 'safe_to_enable';
  const isAttack = suspect > limited * MOSTLY;
  if (isAttack && (hour.limitedInSuspect[level] ?? 0) > 0) return 'under_attack';
  return isAttack && limited - suspect <= tolerated ? 'safe_to_enable' : 'needs_rate';
}

/** Returns a rate and burst that would have limited no query of this span, except in suspect seconds. */
export function proposedRate({ peakPerSecond, peakInTenSeconds }: SpanCounts): ProposedRate {
  const rate = Math.min(MAX_RATE, Math.max(1, roundedUp(peakPerSecond * HEADROOM)));
  // A new name must leave the reserve in the bucket.
  const usable = 1 - reserveOf(false, 1);
  const burst = Math.max(rate * BURST_FACTOR, roundedUp((peakInTenSeconds * BURST_HEADROOM) / usable));
  return { rate, burst: Math.min(MAX_BURST, burst) };
}

/** Rounds up to two digits, so that a proposal does not change every minute. */
function roundedUp(value: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 1);
  return Math.ceil(value / step) * step;
}
