/**
 * What is usual in a zone. Each number begins with a prior, moves by minutes with a time constant of an hour, and is bounded: an
 * attacker who has the patience to teach it can move it to its bound and no further.
 */
import type { LearnedZone } from '../profileStore.ts';

/** What is taken for usual at first: a background of typos and strays as measured at many zones. */
const USUAL_SHARE = 0.2;
/** However long it lasts, a flood is not usual: with this share an alarm needs four unknown names for each known one. */
const MAX_SHARE = 0.5;
/** Twenty times this is the highest alarm there is by default: a zone is taken for a busy one until it is known. */
const PRIOR_PEAK_PER_SECOND = 50;
const SECONDS_PER_MINUTE = 60;
/** What a minute leaves of the time before it: a time constant of an hour. */
const KEPT_BY_MINUTE = 1 - 1 / 60;
/** After a longer time without a look, as when the machine slept, it is not known what was. */
const MAX_WATCHED_SECONDS = 600;
/** The peak of unknown names fades with a half-life of a day, */
const UNKNOWN_PEAK_FADE = 0.5 ** (1 / 1440);
/** the busiest minute with one of about five days. */
const PEAK_FADE = 0.9999;
/**
 * A zone may have twice as much in a day: where it is judged by rate, or once will be, the rate is all that an attacker has to
 * teach.
 */
const MAX_GROWTH = 2 ** (1 / 1440);
/** What every zone may have: below it growth has no bound. */
const FREE_PER_SECOND = 100;
/** Nor has it on a zone's first day, unless that is judged by rate already: what is usual in it is found out then. */
const FREE_SECONDS = 24 * 60 * SECONDS_PER_MINUTE;

/** What was counted, and in how many seconds: one, where the look at the zone was not late. */
export interface ZoneCounts {
  readonly seconds: number;
  readonly queries: number;
  readonly unknown: number;
  readonly answers: number;
  readonly nxdomains: number;
}

export type UsualUnknown = Pick<Baselines, 'unknownShare' | 'unknownPerSecond' | 'unknownPeakPerSecond'>;

export class Baselines {
  unknownShare = USUAL_SHARE;
  nxdomainShare = USUAL_SHARE;
  unknownPerSecond = 0;
  /** Unknown names a second in the busiest minutes. */
  unknownPeakPerSecond = PRIOR_PEAK_PER_SECOND;
  /** Mean queries a second of the busiest minute lately. */
  ratePerSecond = 0;
  /** Seconds with traffic and without an attack. */
  learnedSeconds = 0;
  #seconds = 0;
  #queries = 0;
  #unknown = 0;
  #answers = 0;
  #nxdomains = 0;

  /** Adds what was counted without an attack. */
  learn({ seconds, queries, unknown, answers, nxdomains }: ZoneCounts, byRate: boolean): void {
    const watchedSeconds = Math.min(seconds, MAX_WATCHED_SECONDS);
    this.learnedSeconds += watchedSeconds;
    this.#seconds += watchedSeconds;
    this.#queries += queries;
    this.#unknown += unknown;
    this.#answers += answers;
    this.#nxdomains += nxdomains;
    if (this.#seconds >= SECONDS_PER_MINUTE) this.#endMinute(byRate);
  }

  /** What is learned of unknown names. */
  unknownNames(): UsualUnknown {
    const { unknownShare, unknownPerSecond, unknownPeakPerSecond } = this;
    return { unknownShare, unknownPerSecond, unknownPeakPerSecond };
  }

  /** Takes back what was learned of unknown names. */
  resetUnknown(usual: UsualUnknown): void {
    Object.assign(this, usual);
    this.#unknown = 0;
  }

  restore(learned: LearnedZone): void {
    this.unknownShare = Math.min(MAX_SHARE, learned.unknownShare);
    this.nxdomainShare = Math.min(MAX_SHARE, learned.nxdomainShare);
    this.unknownPerSecond = learned.unknownPerSecond;
    this.unknownPeakPerSecond = learned.unknownPeakPerSecond ?? PRIOR_PEAK_PER_SECOND;
    this.ratePerSecond = learned.ratePerSecond;
    this.learnedSeconds = learned.learnedSeconds;
  }

  #endMinute(byRate: boolean): void {
    const minutes = this.#seconds / SECONDS_PER_MINUTE;
    const moved = (from: number, to: number): number => to + (from - to) * KEPT_BY_MINUTE ** minutes;
    const rate = this.#queries / this.#seconds;
    const unknown = this.#unknown / this.#seconds;
    this.unknownShare = moved(this.unknownShare, Math.min(MAX_SHARE, this.#unknown / this.#queries));
    if (this.#answers > 0)
      this.nxdomainShare = moved(this.nxdomainShare, Math.min(MAX_SHARE, this.#nxdomains / this.#answers));
    this.unknownPerSecond = moved(this.unknownPerSecond, unknown);
    const peak = this.unknownPeakPerSecond;
    this.unknownPeakPerSecond = unknown > peak ? moved(peak, unknown) : peak * UNKNOWN_PEAK_FADE ** minutes;
    const isFree = !byRate && this.learnedSeconds <= FREE_SECONDS;
    const most = isFree ? rate : Math.max(FREE_PER_SECOND, this.ratePerSecond * MAX_GROWTH ** minutes);
    this.ratePerSecond = Math.max(Math.min(rate, most), this.ratePerSecond * PEAK_FADE ** minutes);
    this.#seconds = 0;
    this.#queries = 0;
    this.#unknown = 0;
    this.#answers = 0;
    this.#nxdomains = 0;
  }
}
