/**
 * Usual rates and shares of a zone. They start at an initial value and are updated every minute. A rate that
 * determines an alarm threshold at most doubles per day, so that a patient attacker gains little.
 */
import type { LearnedZone } from '../profileStore.ts';
import { PeakRate } from './peakRate.ts';

/** Initial share of unknown names and of NXDOMAIN. Typos and stray queries cause this share in many zones. */
const USUAL_SHARE = 0.2;
/**
 * Initial peak of unknown names per second. Twenty times this value is the highest default attack threshold, so a new
 * zone is treated like a busy one.
 */
const PRIOR_PEAK_PER_SECOND = 50;
const SECONDS_PER_MINUTE = 60;
/**
 * Weight of the previous value when a minute's share or busy rate is averaged in. The time constant is 20 minutes, or
 * five minutes in zones with little traffic so far.
 */
const SHARE_KEPT_BY_MINUTE = 1 - 1 / 20;
const FRESH_SHARE_KEPT_BY_MINUTE = 1 - 1 / 5;
/**
 * Weight of the previous value when a minute's unknown names are averaged into their mean and peak. The time constant
 * is one hour.
 */
const KEPT_BY_MINUTE = 1 - 1 / 60;
/** Maximum time between two ticks that counts as observed. In a longer interval, the machine may have slept. */
const MAX_WATCHED_SECONDS = 600;
/** Factor by which the peak of unknown names decays per minute. The half-life is one day. */
const UNKNOWN_PEAK_FADE = 0.5 ** (1 / 1440);
/**
 * Factor by which the busy rate of unknown names decays per minute. The half-life is five days, so that the rate does
 * not fall much during a weekend.
 */
const PEAK_FADE = 0.9999;
/** Maximum factor by which a rate grows per minute: two per day. */
const MAX_GROWTH = 2 ** (1 / 1440);
/**
 * Up to this value, the busy rate of unknown names may grow at any speed, because the alarm threshold (three times
 * the rate) is at least 100.
 */
const FREE_UNKNOWN_PER_SECOND = 100 / 3;
/**
 * Up to this value, the peak of unknown names may grow at any speed, because the attack threshold (twenty times the
 * peak) is at least 200.
 */
const FREE_PEAK_PER_SECOND = 10;
/** Counts of a zone since the last tick. `seconds` is 1 unless the tick was late. */
export interface ZoneCounts {
  readonly seconds: number;
  readonly queries: number;
  readonly unknown: number;
  /** Number of queries for known names that the zone does not list. */
  readonly learned: number;
  readonly answers: number;
  readonly nxdomains: number;
}

export type UsualUnknown = Pick<
  Baselines,
  'unknownShare' | 'unknownPerSecond' | 'unknownPeakPerSecond' | 'unknownBusyPerSecond'
>;

export class Baselines {
  unknownShare = USUAL_SHARE;
  nxdomainShare = USUAL_SHARE;
  unknownPerSecond = 0;
  /** Unknown names per second in the busiest minutes. The attack threshold is a multiple of this rate. */
  unknownPeakPerSecond = PRIOR_PEAK_PER_SECOND;
  /**
   * Unknown names per second in busy hours. The alarm threshold of a zone with mostly unknown names is a multiple of
   * this rate.
   */
  unknownBusyPerSecond = 0;
  /** Rates in the busiest recent ten minutes: of all queries, and of the two kinds that a rate limit applies to. */
  readonly busiest = { all: new PeakRate(), unknown: new PeakRate(), learned: new PeakRate() };
  /** Number of seconds with traffic. Seconds under attack count only if the zone is judged by query rate. */
  learnedSeconds = 0;
  readonly #learnForSeconds: number;
  readonly #unknownMinute = new CountedMinute();
  #isUnknownMinuteAttacked = false;

  /** `learnForSeconds`: seconds of traffic after which the rates of a new zone are a baseline. */
  constructor(learnForSeconds: number) {
    this.#learnForSeconds = learnForSeconds;
  }

  /** Whether the zone has had less than `learnForSeconds` of traffic, so that its rates are not a baseline yet. */
  get isFresh(): boolean {
    return this.learnedSeconds < this.#learnForSeconds;
  }

  /** Updates the query rates. `isFree`: they may grow at any speed. */
  learnRates({ seconds, queries, unknown, learned }: ZoneCounts, isFree: boolean): void {
    const watchedSeconds = Math.min(seconds, MAX_WATCHED_SECONDS);
    this.learnedSeconds += watchedSeconds;
    this.busiest.all.add(queries, watchedSeconds, isFree);
    this.busiest.unknown.add(unknown, watchedSeconds, isFree);
    this.busiest.learned.add(learned, watchedSeconds, isFree);
  }

  /**
   * Updates shares and rates of unknown names, also under attack, so that a false alarm ends if genuine traffic has
   * changed. Under attack, the mean does not change, and the peak at most doubles per day. Once the zone has a
   * baseline, the busy rate at most doubles per day. Must not be called for attacks above the configured threshold.
   */
  learnUnknown(counts: ZoneCounts, attacked: boolean): void {
    const minute = this.#unknownMinute;
    minute.add(counts);
    this.#isUnknownMinuteAttacked ||= attacked;
    if (!minute.isFinished) return;
    const { minutes } = minute;
    const wasAttacked = this.#isUnknownMinuteAttacked;
    this.#isUnknownMinuteAttacked = false;
    const { queries, unknown, answers, nxdomains } = minute.takePerSecond();
    const share = (this.isFresh ? FRESH_SHARE_KEPT_BY_MINUTE : SHARE_KEPT_BY_MINUTE) ** minutes;
    const mean = KEPT_BY_MINUTE ** minutes;
    this.unknownShare = moved(this.unknownShare, Math.min(1, unknown / queries), share);
    if (answers > 0) this.nxdomainShare = moved(this.nxdomainShare, nxdomains / answers, share);
    const peak = this.unknownPeakPerSecond;
    const mostPeak = wasAttacked ? grown(peak, FREE_PEAK_PER_SECOND, minutes) : unknown;
    this.unknownPeakPerSecond =
      unknown > peak ? Math.min(moved(peak, unknown, mean), mostPeak) : peak * UNKNOWN_PEAK_FADE ** minutes;
    const busy = this.unknownBusyPerSecond;
    const mostBusy = this.isFresh ? unknown : grown(busy, FREE_UNKNOWN_PER_SECOND, minutes);
    this.unknownBusyPerSecond =
      unknown > busy ? Math.min(moved(busy, unknown, share), mostBusy) : busy * PEAK_FADE ** minutes;
    if (!wasAttacked) this.unknownPerSecond = moved(this.unknownPerSecond, unknown, mean);
  }

  unknownNames(): UsualUnknown {
    const { unknownShare, unknownPerSecond, unknownPeakPerSecond, unknownBusyPerSecond } = this;
    return { unknownShare, unknownPerSecond, unknownPeakPerSecond, unknownBusyPerSecond };
  }

  /** Sets the baselines of unknown names, and discards the unknown names counted in the current minute. */
  resetUnknown(usual: UsualUnknown): void {
    Object.assign(this, usual);
    this.#unknownMinute.unknown = 0;
  }

  restore(learned: LearnedZone): void {
    this.unknownShare = learned.unknownShare;
    this.nxdomainShare = learned.nxdomainShare;
    this.unknownPerSecond = learned.unknownPerSecond;
    this.unknownPeakPerSecond = learned.unknownPeakPerSecond ?? PRIOR_PEAK_PER_SECOND;
    this.unknownBusyPerSecond =
      learned.unknownBusyPerSecond ?? Math.max(this.unknownPerSecond, learned.unknownPeakPerSecond ?? 0);
    this.busiest.all.perSecond = learned.ratePerSecond;
    this.busiest.unknown.perSecond = learned.busiestUnknownPerSecond ?? learned.ratePerSecond;
    this.busiest.learned.perSecond = learned.busiestLearnedPerSecond ?? learned.ratePerSecond;
    this.learnedSeconds = learned.learnedSeconds;
  }
}

class CountedMinute {
  unknown = 0;
  #seconds = 0;
  #queries = 0;
  #answers = 0;
  #nxdomains = 0;

  add({ seconds, queries, unknown, answers, nxdomains }: ZoneCounts): void {
    this.#seconds += Math.min(seconds, MAX_WATCHED_SECONDS);
    this.#queries += queries;
    this.unknown += unknown;
    this.#answers += answers;
    this.#nxdomains += nxdomains;
  }

  get isFinished(): boolean {
    return this.#seconds >= SECONDS_PER_MINUTE;
  }

  get minutes(): number {
    return this.#seconds / SECONDS_PER_MINUTE;
  }

  /** Returns the mean counts per second of the finished minute, and starts the next minute. */
  takePerSecond(): Omit<ZoneCounts, 'seconds' | 'learned'> {
    const seconds = this.#seconds;
    const means = {
      queries: this.#queries / seconds,
      unknown: this.unknown / seconds,
      answers: this.#answers / seconds,
      nxdomains: this.#nxdomains / seconds,
    };
    this.#seconds = 0;
    this.#queries = 0;
    this.unknown = 0;
    this.#answers = 0;
    this.#nxdomains = 0;
    return means;
  }
}

const moved = (from: number, to: number, kept: number): number => to + (from - to) * kept;
const grown = (from: number, free: number, minutes: number): number =>
  Math.max(free, from * MAX_GROWTH ** minutes);
