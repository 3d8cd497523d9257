/** Decides from a zone's counts and baselines whether the zone is under attack. Numbers: docs/reference/dns-attacks.md. */
import type { ZoneThresholds } from '../zoneThresholds.ts';
import type { Baselines, ZoneCounts } from './baselines.ts';

/**
 * A share (unknown names or NXDOMAIN) is unusual if it exceeds its baseline by this much. At a usual NXDOMAIN share of
 * 20 %, the limit is half of all answers.
 */
const FAR_SHARE = 0.3;
/**
 * In zones with a higher usual share of unknown names or NXDOMAIN, such as blocklists and reverse zones, only the
 * rate is checked, because a high share is no sign of an attack.
 */
const MOSTLY_UNKNOWN_SHARE = 0.6;
/** Minimum per second, for an alarm, of unknown names or of limited queries for known names. Fewer harm no server. */
export const ALARM_PER_SECOND = 100;
/** Unknown names raise an alarm at this multiple of the usual rate. Matters in zones with many of them every day. */
const ALARM_FACTOR = 3;
/** Unknown names at this multiple of their usual peak are an attack, regardless of other criteria. */
const ATTACK_FACTOR = 20;
/** Minimum unknown names per second for an attack by ATTACK_FACTOR. Matters only in quiet zones. */
const MIN_ATTACK_PER_SECOND = 200;
/** Minimum number of answers for a meaningful share. */
const MIN_ANSWERS = 20;
/** If more than this share of the answered unknown names exist, the names are new and not a flood. */
const MOSTLY = 0.5;
/** Seconds of traffic (ten minutes) before a zone has a baseline of unknown names. Until then, every name is new. */
const BASELINE_SECONDS = 600;

/** Configured attack criteria of a zone. */
export interface ZoneLimits {
  /** Unknown names per second that are an attack in any zone. */
  readonly unknownPerSecond: number;
  /** Thresholds for this zone only. Their `unknownPerSecond` replaces the general value. */
  readonly configured: ZoneThresholds;
  /** Seconds of traffic without an attack after which nearly all names of an unseeded zone count as known. */
  readonly learnForSeconds: number;
}

/** Alarm thresholds for unknown names. Infinite if unknown names are no evidence of an attack in the zone. */
export interface Alarms {
  /** Unknown names per second that may be an attack, depending on their share and on the answers. */
  readonly perSecond: number;
  /** Minimum share of unknown names in the queries, in addition to `perSecond`. */
  readonly share: number;
  /** Unknown names per second that are an attack, regardless of baseline and answers. */
  readonly attackPerSecond: number;
}

/** Whether an unseeded zone was observed long enough to know nearly all its names. */
export const isWatched = ({ learnedSeconds }: Baselines, { learnForSeconds }: ZoneLimits): boolean =>
  learnedSeconds >= Math.max(BASELINE_SECONDS, learnForSeconds);

/** Alarm thresholds of a zone that is judged by names, not by query rate. */
export function alarmsOf(usual: Baselines, limits: ZoneLimits, seeded: boolean): Alarms {
  const byPeak = Math.max(MIN_ATTACK_PER_SECOND, ATTACK_FACTOR * usual.unknownPeakPerSecond);
  const knowsNames = seeded || isWatched(usual, limits);
  const attackPerSecond = knowsNames
    ? (limits.configured.unknownPerSecond ?? Math.min(limits.unknownPerSecond, byPeak))
    : Number.POSITIVE_INFINITY;
  const hasBaseline = seeded || usual.learnedSeconds >= BASELINE_SECONDS;
  const isMostlyUnknown = Math.max(usual.unknownShare, usual.nxdomainShare) > MOSTLY_UNKNOWN_SHARE;
  const usualPerSecond = isMostlyUnknown ? usual.unknownBusyPerSecond : usual.unknownPerSecond;
  return {
    perSecond: Math.min(Math.max(ALARM_PER_SECOND, ALARM_FACTOR * usualPerSecond), attackPerSecond),
    share: hasBaseline ? farShare(usual.unknownShare) : Number.POSITIVE_INFINITY,
    attackPerSecond,
  };
}

const farShare = (usualShare: number): number =>
  usualShare > MOSTLY_UNKNOWN_SHARE ? 0 : usualShare + FAR_SHARE;

/** Configured unknown names per second that are a flood in this zone, regardless of the baseline. */
export const floodPerSecond = ({ configured, unknownPerSecond }: ZoneLimits): number =>
  configured.unknownPerSecond ?? unknownPerSecond;

/** Alarm thresholds of a zone that is judged by query rate, in which no name counts as unknown. */
export const NO_ALARMS: Alarms = {
  perSecond: Number.POSITIVE_INFINITY,
  share: Number.POSITIVE_INFINITY,
  attackPerSecond: Number.POSITIVE_INFINITY,
};

/** Answers for unknown names, except those that do not show whether the name exists. */
export interface UnknownAnswers {
  readonly answers: number;
  readonly positives: number;
}

/**
 * Criterion that detected an attack:
 * - `unknown_rate`: rate of unknown names.
 * - `unknown_share`: share of unknown names in the queries.
 * - `nxdomain_share`: share of NXDOMAIN in the answers.
 * - `zone_rate`: the zone exceeded its rate limit.
 * - `account_rate`: rate of unknown names over all zones.
 * - `earlier_run`: the attack was reported before a restart.
 * - `known_limited`: limited queries for known names, which only cause a report.
 */
export const detectedBy = [
  'unknown_rate',
  'unknown_share',
  'nxdomain_share',
  'zone_rate',
  'account_rate',
  'earlier_run',
  'known_limited',
] as const;
export type DetectedBy = (typeof detectedBy)[number];

/** Returns the criterion by which the counts indicate an attack, or undefined. */
export function attackCriterion(
  { seconds, queries, unknown, answers, nxdomains }: ZoneCounts,
  { perSecond, share, attackPerSecond }: Alarms,
  { usual, unknownAnswers }: { readonly usual: Baselines; readonly unknownAnswers: UnknownAnswers },
): DetectedBy | undefined {
  if (unknown >= attackPerSecond * seconds) return 'unknown_rate';
  const isRush =
    unknownAnswers.answers >= MIN_ANSWERS && unknownAnswers.positives > unknownAnswers.answers * MOSTLY;
  if (isRush) return undefined;
  if (unknown >= perSecond * seconds && unknown >= share * queries) return 'unknown_share';
  const isFar =
    nxdomains >= perSecond * seconds &&
    answers >= MIN_ANSWERS &&
    nxdomains >= farShare(usual.nxdomainShare) * answers;
  return isFar ? 'nxdomain_share' : undefined;
}
