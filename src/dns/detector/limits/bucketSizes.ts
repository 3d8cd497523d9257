/** Sizes of the token buckets of the account and of zones that are judged by query rate, from learned rates. */
import type { Rule } from '../../../rules/index.ts';
import type { Zone } from '../zones/zone.ts';
import type { Thresholds } from './accountThresholds.ts';
import { HEADROOM, MULTIPLIERS } from './sensitivity.ts';
import { BURST_FACTOR, FLOOR_PER_SECOND, type Threshold } from './thresholds.ts';

export type RuleSensitivities = Pick<Rule, 'rate_sensitivity' | 'burst_sensitivity'>;

/** Sizes of the token buckets of a zone. */
export interface ZoneBuckets {
  /** For queries for unknown names. */
  readonly unknown: Threshold;
  /** For queries for learned names, while the zone is judged by query rate. */
  readonly learned: Threshold;
  /** Maximum factor by which the allowance of the zone may raise its limits (allowance.ts). */
  readonly mostFactor: number;
}

interface ZoneBucketState {
  /** Queries per second that the servers answered in time, in the busiest ten minutes. */
  readonly servedPerSecond: number;
  /** Returns the size of the account's token bucket for zones without an attack, under other sensitivities. */
  readonly account: (sensitivities: RuleSensitivities) => Threshold;
}

const DEFAULT_SENSITIVITIES: RuleSensitivities = { rate_sensitivity: 'medium', burst_sensitivity: 'medium' };

/** Sizes of the token buckets of the account. */
export interface AccountBuckets {
  /** For queries for unknown names in zones under attack. */
  readonly attacked: Threshold;
  /** For queries for unknown names in other zones. */
  readonly calm: Threshold;
}

interface AccountThresholds {
  readonly learned: Threshold;
  readonly configured: Thresholds;
}

/** Returns the sizes of the account's token buckets. Configured values are scaled by the sensitivities, too. */
export function accountBuckets(
  { learned, configured }: AccountThresholds,
  { rate_sensitivity, burst_sensitivity }: RuleSensitivities = DEFAULT_SENSITIVITIES,
): AccountBuckets {
  const rate = configured.ratePerSecond ?? learned.ratePerSecond;
  const burst = (configured.burst ?? rate * BURST_FACTOR) * MULTIPLIERS[burst_sensitivity];
  const attacked = { ratePerSecond: rate * MULTIPLIERS[rate_sensitivity], burst };
  if (configured.ratePerSecond !== undefined) return { attacked, calm: attacked };
  return { attacked, calm: { ratePerSecond: rate * HEADROOM[rate_sensitivity], burst } };
}

/** Returns the sizes of a zone's token buckets. Numbers of its policy are not scaled. */
export function zoneBuckets(
  { policy, byRate, usual: { busiest }, allowance }: Zone,
  rule: RuleSensitivities = DEFAULT_SENSITIVITIES,
  { servedPerSecond, account }: ZoneBucketState,
): ZoneBuckets {
  const rate_sensitivity = policy?.rate_sensitivity ?? rule.rate_sensitivity;
  const burst_sensitivity = policy?.burst_sensitivity ?? rule.burst_sensitivity;
  const setRate = policy?.rate ?? undefined;
  if (setRate !== undefined) {
    const set = { ratePerSecond: setRate, burst: policy?.burst ?? setRate * BURST_FACTOR };
    return { unknown: set, learned: set, mostFactor: 1 };
  }
  if (!byRate) {
    const unknown = account({ rate_sensitivity, burst_sensitivity });
    return {
      unknown: { ...unknown, burst: policy?.burst ?? unknown.burst },
      learned: unknown,
      mostFactor: 1,
    };
  }
  const sizeOf = (peakPerSecond: number): Threshold => {
    const ratePerSecond = Math.max(FLOOR_PER_SECOND, peakPerSecond * HEADROOM[rate_sensitivity]);
    const burst = policy?.burst ?? ratePerSecond * BURST_FACTOR * MULTIPLIERS[burst_sensitivity];
    return { ratePerSecond, burst };
  };
  const unknown = sizeOf(busiest.unknown.perSecond);
  const learned = sizeOf(busiest.learned.perSecond);
  return {
    unknown: raised(unknown, allowance.factor, servedPerSecond),
    learned: raised(learned, allowance.factor, servedPerSecond),
    mostFactor: mostFactor(unknown.ratePerSecond, servedPerSecond),
  };
}

/** Rate to which limits may be raised in any case: the servers of most operators answer more than that. */
const LEAST_CEILING_PER_SECOND = 1000;

/** Returns the size of a bucket after its allowance has raised the rate by `factor`. The burst stays. */
export function raised(
  { ratePerSecond, burst }: Threshold,
  factor: number,
  servedPerSecond: number,
): Threshold {
  const most = Math.max(ratePerSecond, mostHealed(servedPerSecond));
  return { ratePerSecond: Math.min(ratePerSecond * factor, most), burst };
}

/** Returns the maximum factor by which an allowance may raise a rate. */
export const mostFactor = (ratePerSecond: number, servedPerSecond: number): number =>
  mostHealed(servedPerSecond) / ratePerSecond;

/** Returns the rate to which limits may be raised: half of what the servers have proven to answer in time. */
const mostHealed = (servedPerSecond: number): number =>
  Math.max(LEAST_CEILING_PER_SECOND, servedPerSecond / 2);

interface CeilingState {
  readonly servedPerSecond: number;
  /** Sum of the learned rates of the zones. */
  readonly learnedPerSecond: number;
}

/**
 * Returns the size of the bucket of all zones that are judged by query rate together. Without it, 4,096 zones would
 * pass 409,600 queries per second.
 */
export function ceilingOf(
  { servedPerSecond, learnedPerSecond }: CeilingState,
  { rate_sensitivity }: RuleSensitivities = DEFAULT_SENSITIVITIES,
): Threshold {
  const learned = learnedPerSecond * HEADROOM[rate_sensitivity];
  const ratePerSecond = Math.max(mostHealed(servedPerSecond), learned);
  return { ratePerSecond, burst: ratePerSecond * BURST_FACTOR };
}
