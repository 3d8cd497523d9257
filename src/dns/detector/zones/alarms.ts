/** Which unknown names in a zone are an attack: all numbers of docs/dns-protection.md, and none that a zone has. */
import type { ZoneThresholds } from '../zoneThresholds.ts';
import type { Baselines, ZoneCounts } from './baselines.ts';

/** A share is far from its baseline when it lies 0.3 above it: a 20 % NXDOMAIN background must become half of all. */
const FAR_SHARE = 0.3;
/** Fewer unknown names a second than this, or known ones that are refused, harm no server, whatever their share. */
export const ALARM_PER_SECOND = 100;
/** And three times what is usual, for zones where much is unknown every day. */
const ALARM_FACTOR = 3;
/** Twenty times the usual peak is an attack, whatever else is true of it, */
const ATTACK_FACTOR = 20;
/** but in a quiet zone not fewer than these a second. */
const MIN_ATTACK_PER_SECOND = 200;
/** A share of fewer answers than these says nothing. */
const MIN_ANSWERS = 20;
/** When most unknown names asked for exist, they are new names and no flood. */
const MOSTLY = 0.5;
/** Ten minutes with traffic make a baseline of unknown names; before, every name is new. */
const BASELINE_SECONDS = 600;

/** What a zone is judged by that is not learned. */
export interface ZoneLimits {
  /** Unknown names a second that are an attack in every zone. */
  readonly unknownPerSecond: number;
  /** For this zone, in place of that. */
  readonly byHand: ZoneThresholds;
  /** So many seconds of traffic without an attack stand in for the names of a zone that is not seeded. */
  readonly learnForSeconds: number;
}

/** From where on unknown names are looked at and judged; infinite where they say nothing. */
export interface Alarms {
  /** Unknown names a second that may be an attack, by their share and answers. */
  readonly perSecond: number;
  /** The share of a zone's queries that unknown names must have, then. */
  readonly share: number;
  /** Unknown names a second that are an attack, whatever is learned of the zone and however they are answered. */
  readonly attackPerSecond: number;
}

/** Whether so much of a zone without a seed was watched that its names are known, all but a few. */
export const isWatched = ({ learnedSeconds }: Baselines, { learnForSeconds }: ZoneLimits): boolean =>
  learnedSeconds >= Math.max(BASELINE_SECONDS, learnForSeconds);

/** The alarms of a zone that is not judged by rate. */
export function alarmsOf(usual: Baselines, limits: ZoneLimits, seeded: boolean): Alarms {
  const { byHand, unknownPerSecond } = limits;
  const byPeak = Math.max(MIN_ATTACK_PER_SECOND, ATTACK_FACTOR * usual.unknownPeakPerSecond);
  const knowsNames = seeded || isWatched(usual, limits);
  const attackPerSecond = knowsNames
    ? (byHand.unknownPerSecond ?? Math.min(unknownPerSecond, byPeak))
    : Number.POSITIVE_INFINITY;
  const hasBaseline = seeded || usual.learnedSeconds >= BASELINE_SECONDS;
  return {
    perSecond: Math.min(Math.max(ALARM_PER_SECOND, ALARM_FACTOR * usual.unknownPerSecond), attackPerSecond),
    share: hasBaseline ? usual.unknownShare + FAR_SHARE : Number.POSITIVE_INFINITY,
    attackPerSecond,
  };
}

/** None: a zone that is judged by rate has no unknown names. */
export const NO_ALARMS: Alarms = {
  perSecond: Number.POSITIVE_INFINITY,
  share: Number.POSITIVE_INFINITY,
  attackPerSecond: Number.POSITIVE_INFINITY,
};

/** How names that were unknown were answered; those that say nothing of it left out. */
export interface UnknownAnswers {
  readonly answers: number;
  readonly positives: number;
}

/**
 * What an attack was noticed by: more unknown names than the alarm that no learning moves, their share of the queries, or that
 * of NXDOMAIN; a zone judged by rate that asks for more than its bucket; all zones of the account together; an earlier run. Or by
 * known names that are refused, which nothing but who is told hangs on.
 */
export const noticedBy = [
  'unknown_rate',
  'unknown_share',
  'nxdomain_share',
  'zone_rate',
  'account_rate',
  'earlier_run',
  'known_refused',
] as const;
export type NoticedBy = (typeof noticedBy)[number];

/** By what these counts look like an attack; undefined where they do not. */
export function looksAttacked(
  { seconds, queries, unknown, answers, nxdomains }: ZoneCounts,
  { perSecond, share, attackPerSecond }: Alarms,
  { usual, unknownAnswers }: { readonly usual: Baselines; readonly unknownAnswers: UnknownAnswers },
): NoticedBy | undefined {
  if (unknown >= attackPerSecond * seconds) return 'unknown_rate';
  const isRush =
    unknownAnswers.answers >= MIN_ANSWERS && unknownAnswers.positives > unknownAnswers.answers * MOSTLY;
  if (isRush) return undefined;
  if (unknown >= perSecond * seconds && unknown >= share * queries) return 'unknown_share';
  const farShare = usual.nxdomainShare + FAR_SHARE;
  const isFar = nxdomains >= perSecond * seconds && answers >= MIN_ANSWERS && nxdomains >= farShare * answers;
  return isFar ? 'nxdomain_share' : undefined;
}
