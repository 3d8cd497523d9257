/**
 * Decides from a zone's counts and baselines whether the zone is under attack. docs/reference/dns-attacks.md explains
 * the numbers.
 */
import type { Baselines, ZoneCounts } from './baselines.ts';

/**
 * The share of unknown names or of NXDOMAIN is unusual if it exceeds its baseline by this much. If 20 % of the
 * answers are usually NXDOMAIN, a share of 50 % is unusual.
 */
const FAR_SHARE = 0.3;
/**
 * If the usual share of unknown names or NXDOMAIN in a zone is higher than this (blocklists, reverse zones), only
 * their rate is checked, because a high share is no sign of an attack.
 */
const MOSTLY_UNKNOWN_SHARE = 0.6;
/**
 * Minimum number per second of unknown names, NXDOMAIN answers, or limited queries for known names that raises an
 * alarm. Fewer queries harm no server.
 */
export const ALARM_PER_SECOND = 100;
/**
 * Unknown names raise an alarm at this multiple of their usual rate. The factor matters in zones in which clients
 * query many unknown names every day.
 */
const ALARM_FACTOR = 3;
/** Unknown names at this multiple of their usual peak are an attack, regardless of other criteria. */
const ATTACK_FACTOR = 20;
/** Fewer unknown names per second are no attack by ATTACK_FACTOR. The minimum matters only in quiet zones. */
const MIN_ATTACK_PER_SECOND = 200;
/** Fewer unknown names per second are no contribution to an attack over many zones. */
const MIN_UNUSUAL_PER_SECOND = 1;
/** Minimum number of answers from which a share is computed. With fewer answers, a share means little. */
const MIN_ANSWERS = 20;
/** If more than this share of the answers for unknown names are positive, the names are new and not a flood. */
const MOSTLY = 0.5;
/**
 * Seconds of traffic (ten minutes) after which a zone has a baseline of unknown names. Before that, nearly every
 * name is unknown.
 */
const BASELINE_SECONDS = 600;

/** Attack criteria of a zone from the configuration and from its policy. */
export interface ZoneLimits {
  /** Unknown names per second that are an attack in any zone. */
  readonly unknownPerSecond: number;
  /** Unknown names per second that are an attack in this zone. Replaces the value for all zones and the learned one. */
  readonly unknownOfPolicy?: number;
  /** Seconds of traffic without an attack after which nearly all names of an unseeded zone count as known. */
  readonly learnForSeconds: number;
}

/** Alarm thresholds for unknown names in a zone. Infinite if unknown names are no evidence of an attack there. */
export interface Alarms {
  /** Unknown names per second that are an attack if their share and the answers also indicate one. */
  readonly perSecond: number;
  /** Minimum share of queries for unknown names. Unknown names are an attack if they reach `perSecond` and this. */
  readonly share: number;
  /** Unknown names per second that are an attack, regardless of baseline and answers. */
  readonly attackPerSecond: number;
}

/** Whether an unseeded zone was observed for so long that nearly all its names are known. */
export const isWatched = ({ learnedSeconds }: Baselines, { learnForSeconds }: ZoneLimits): boolean =>
  learnedSeconds >= Math.max(BASELINE_SECONDS, learnForSeconds);

/** Returns the alarm thresholds of a zone that is judged by names, not by query rate. */
export function alarmsOf(usual: Baselines, limits: ZoneLimits, seeded: boolean): Alarms {
  const byPeak = Math.max(MIN_ATTACK_PER_SECOND, ATTACK_FACTOR * usual.unknownPeakPerSecond);
  const knowsNames = seeded || isWatched(usual, limits);
  const attackPerSecond = knowsNames
    ? (limits.unknownOfPolicy ?? Math.min(limits.unknownPerSecond, byPeak))
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

/** Returns the configured number of unknown names per second that is a flood, regardless of the zone's baseline. */
export const floodPerSecond = ({ unknownOfPolicy, unknownPerSecond }: ZoneLimits): number =>
  unknownOfPolicy ?? unknownPerSecond;

/** Returns the number of unknown names per second that is unusual for a zone, but no alarm by itself. */
export const unusualPerSecond = ({ unknownPerSecond }: Baselines): number =>
  Math.max(MIN_UNUSUAL_PER_SECOND, ALARM_FACTOR * unknownPerSecond);

/** Alarm thresholds of a zone that is judged by query rate, in which no name counts as unknown. */
export const NO_ALARMS: Alarms = {
  perSecond: Number.POSITIVE_INFINITY,
  share: Number.POSITIVE_INFINITY,
  attackPerSecond: Number.POSITIVE_INFINITY,
};

/**
 * Numbers of answers for unknown names. In zones in which NODATA proves that a name exists, NODATA answers are not
 * counted.
 */
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
 * - `known_limited`: rate of limited queries for known names. The attack is then only reported.
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

/** Returns the criterion by which a zone's counts indicate an attack, or undefined if they indicate none. */
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
