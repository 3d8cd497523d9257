/**
 * One zone as the guard sees it: what was asked in it this second, what is usual, whether it is under attack,
 * and whether its names can be learned at all. A wildcard's subtree is judged as a zone of its own.
 */
import type { LearnedZone } from '../profileStore.ts';
import { FLOOR } from '../thresholds.ts';
import type { TokenBucket } from '../tokenBucket.ts';
import type { SharedZone } from './sharedZone.ts';

/** A share is far from its baseline when it lies 0.3 above it: a 20 % NXDOMAIN background must become half of all. */
const FAR_SHARE = 0.3;
/** Fewer unknown names a second than this harm no server, whatever their share. */
const ALARM_PER_SECOND = 100;
/** And three times what is usual, for zones where much is unknown every day. */
const ALARM_FACTOR = 3;
/** A share of fewer answers than these says nothing. */
const MIN_ANSWERS = 20;
/** When most unknown names asked for exist, they are new names and no flood. */
const MOSTLY = 0.5;
/** An attack is over when nothing looked like one for so long: floods pause and come back. */
const ATTACK_HOLD_MS = 30_000;
/** Ten minutes with traffic make a baseline of unknown names; before, every name is new. */
const BASELINE_SECONDS = 600;
/** After the first hour the baselines follow with a time constant of one hour. */
const BASELINE_SMOOTHING_SECONDS = 3600;
/** What is taken for usual before there is a baseline: a background of typos and strays as measured at many zones. */
const USUAL_NXDOMAIN_SHARE = 0.2;
/** A name server sees 20 % of its positive answers for new names at most, or it serves names made for one use. */
const ONCE_ONLY_SHARE = 0.5;
const NOT_ONCE_ONLY_SHARE = 0.3;
const ONCE_ONLY_MIN_ANSWERS = 1000;
const ONCE_ONLY_MEMORY = 10_000;
/** The busiest minute fades with a half-life of about five days. */
const PEAK_FADE_PER_MINUTE = 0.9999;
const SECONDS_PER_MINUTE = 60;

export class Zone {
  /** Lower-case text without the last dot; empty for names outside every zone. */
  readonly name: string;
  boundlessBy = '';

  unknownShare = USUAL_NXDOMAIN_SHARE;
  nxdomainShare = USUAL_NXDOMAIN_SHARE;
  unknownPerSecond = 0;
  /** Mean queries a second of the busiest minute lately. */
  ratePerSecond = 0;
  learnedSeconds = 0;
  positiveAnswers = 0;
  onceOnlyAnswers = 0;

  /** What every thread counts and knows of it. */
  readonly shared: SharedZone;
  attackedSinceMs = 0;
  #attackUntilMs = Number.NEGATIVE_INFINITY;
  #boundless = false;
  #onceOnly = false;
  #seeded = false;
  /** So many seconds of its own traffic stand in for the names that are to come; undefined where none are. */
  #awaitedSeconds: number | undefined;
  /** What an earlier run knew. */
  #before: Pick<LearnedZone, 'seeded' | 'boundlessBy'> = {};
  /** What was usual when its names were known: what is counted while they are not says nothing of what comes after. */
  #usualUnknown = { share: USUAL_NXDOMAIN_SHARE, perSecond: 0 };

  // Answers of this second.
  answers = 0;
  nxdomains = 0;
  unknownAnswers = 0;
  unknownPositives = 0;
  #minuteQueries = 0;
  #minuteSeconds = 0;

  constructor(name: string, shared: SharedZone) {
    this.name = name;
    this.shared = shared;
    shared.bucket.resize(FLOOR.ratePerSecond, FLOOR.burst, 0);
    this.#setAlarm();
  }

  /** Any name answers here: a wildcard's parent, or what is delegated. Set by the seed of the zone named beside. */
  get boundless(): boolean {
    return this.#boundless;
  }

  set boundless(boundless: boolean) {
    this.#boundless = boundless;
    this.shared.setByRate(this.byRate);
  }

  /** Whether membership in the profile says nothing here, so that only the zone's rate is judged. */
  get byRate(): boolean {
    return this.#boundless || this.#onceOnly;
  }

  /** Whether all names of the zone are in the profile: it was read from a file or by transfer. */
  get seeded(): boolean {
    return this.#seeded;
  }

  /** Whether its names are still to come, and not enough was watched to do without. */
  get awaitsNames(): boolean {
    return this.shared.awaitsNames;
  }

  /** What an earlier run knew of it. */
  get before(): Pick<LearnedZone, 'seeded' | 'boundlessBy'> {
    return this.#before;
  }

  /** Its names will come. Until then, or until so many seconds of its traffic without an attack were watched, no name is unknown. */
  awaitNames(seconds: number): void {
    if (this.#seeded) return;
    this.#awaitedSeconds = seconds;
    this.#updateAwaiting();
  }

  /** All its names are in the profile from now on. What was counted as unknown before they were says nothing. */
  noteSeeded(): void {
    if (!this.#seeded) {
      this.shared.forgetUnknown();
      this.unknownAnswers = 0;
      this.unknownPositives = 0;
      this.unknownShare = this.#usualUnknown.share;
      this.unknownPerSecond = this.#usualUnknown.perSecond;
    }
    this.#seeded = true;
    this.#updateAwaiting();
    this.#setAlarm();
  }

  /** For zones judged by rate alone; sized by the detector every second. */
  get bucket(): TokenBucket {
    return this.shared.bucket;
  }

  /** Unknown names a second from which it may be under attack; undefined while what is unknown here says nothing. */
  get alarmPerSecond(): number | undefined {
    return this.#alarmShare() === Number.POSITIVE_INFINITY ? undefined : this.#alarmLevel();
  }

  attacked(nowMs: number): boolean {
    return this.shared.attacked(nowMs);
  }

  /** Judges the zone before the second is over; called when the threads have counted enough unknown names. */
  alarm(nowMs: number): void {
    const { queries, unknown } = this.shared;
    if (this.#looksAttacked(queries, unknown)) this.attack(nowMs);
    else this.shared.setAttackedUntil(this.#attackUntilMs);
  }

  /** Notes an answer NOERROR or NODATA; `first` when neither the profile nor its candidates had the name. */
  notePositive(first: boolean): void {
    this.positiveAnswers++;
    if (first) this.onceOnlyAnswers++;
  }

  /** Ends the second: judges it and, unless `learning` is off, learns from it. Returns how many queries it had. */
  tick(nowMs: number, learning: boolean): number {
    const { queries, unknown, refusedByRate } = this.shared.takeCounts();
    if (this.#looksAttacked(queries, unknown) || refusedByRate > 0) this.attack(nowMs);
    else if (learning && queries > 0) this.#learn(queries, unknown);
    this.#updateOnceOnly();
    this.#updateAwaiting();
    this.answers = 0;
    this.nxdomains = 0;
    this.unknownAnswers = 0;
    this.unknownPositives = 0;
    this.#setAlarm();
    return queries;
  }

  learned(): LearnedZone {
    const { name, unknownShare, nxdomainShare, unknownPerSecond, ratePerSecond } = this;
    const { learnedSeconds, positiveAnswers, onceOnlyAnswers } = this;
    return {
      name,
      unknownShare,
      nxdomainShare,
      unknownPerSecond,
      ratePerSecond,
      learnedSeconds,
      positiveAnswers,
      onceOnlyAnswers,
      seeded: this.#seeded,
      boundlessBy: this.#boundless ? this.boundlessBy : '',
    };
  }

  restore(learned: LearnedZone): void {
    this.unknownShare = learned.unknownShare;
    this.nxdomainShare = learned.nxdomainShare;
    this.unknownPerSecond = learned.unknownPerSecond;
    this.ratePerSecond = learned.ratePerSecond;
    this.learnedSeconds = learned.learnedSeconds;
    this.positiveAnswers = learned.positiveAnswers;
    this.onceOnlyAnswers = learned.onceOnlyAnswers;
    this.#before = learned;
    if (learned.seeded !== false)
      this.#usualUnknown = { share: learned.unknownShare, perSecond: learned.unknownPerSecond };
    this.#updateOnceOnly();
    this.#setAlarm();
  }

  /** Under attack from now on, until nothing has looked so for a while. */
  attack(nowMs: number): void {
    if (nowMs >= this.#attackUntilMs) this.attackedSinceMs = nowMs;
    this.#attackUntilMs = nowMs + ATTACK_HOLD_MS;
    this.shared.setAttackedUntil(this.#attackUntilMs);
  }

  #looksAttacked(queries: number, unknown: number): boolean {
    if (this.byRate) return false;
    const level = this.#alarmLevel();
    const { unknownAnswers, unknownPositives, answers, nxdomains } = this;
    if (unknownAnswers >= MIN_ANSWERS && unknownPositives > unknownAnswers * MOSTLY) return false;
    if (unknown >= level && unknown >= this.#alarmShare() * queries) return true;
    return (
      nxdomains >= level && answers >= MIN_ANSWERS && nxdomains >= (this.nxdomainShare + FAR_SHARE) * answers
    );
  }

  /** The share of unknown names that is far from the baseline; none is where there is no baseline yet. */
  #alarmShare(): number {
    const knowsUnknown = this.seeded || this.learnedSeconds >= BASELINE_SECONDS;
    return knowsUnknown && !this.byRate ? this.unknownShare + FAR_SHARE : Number.POSITIVE_INFINITY;
  }

  #setAlarm(): void {
    this.shared.setAlarm(this.#alarmLevel(), this.#alarmShare());
  }

  #alarmLevel(): number {
    return Math.max(ALARM_PER_SECOND, ALARM_FACTOR * this.unknownPerSecond);
  }

  #learn(queries: number, unknown: number): void {
    this.learnedSeconds++;
    const weight = Math.max(1 / BASELINE_SMOOTHING_SECONDS, 1 / this.learnedSeconds);
    this.unknownShare += weight * (unknown / queries - this.unknownShare);
    this.unknownPerSecond += weight * (unknown - this.unknownPerSecond);
    if (this.answers > 0) this.nxdomainShare += weight * (this.nxdomains / this.answers - this.nxdomainShare);
    this.#minuteQueries += queries;
    if (++this.#minuteSeconds < SECONDS_PER_MINUTE) return;
    const rate = this.#minuteQueries / SECONDS_PER_MINUTE;
    this.ratePerSecond = Math.max(rate, this.ratePerSecond * PEAK_FADE_PER_MINUTE);
    this.#minuteQueries = 0;
    this.#minuteSeconds = 0;
  }

  #updateAwaiting(): void {
    const awaited = this.#seeded ? undefined : this.#awaitedSeconds;
    this.shared.setAwaitsNames(awaited !== undefined && this.learnedSeconds < awaited);
  }

  #updateOnceOnly(): void {
    if (this.positiveAnswers > ONCE_ONLY_MEMORY) {
      this.positiveAnswers /= 2;
      this.onceOnlyAnswers /= 2;
    }
    if (this.learnedSeconds < BASELINE_SECONDS || this.positiveAnswers < ONCE_ONLY_MIN_ANSWERS) return;
    const share = this.onceOnlyAnswers / this.positiveAnswers;
    if (share > ONCE_ONLY_SHARE) this.#onceOnly = true;
    else if (share < NOT_ONCE_ONLY_SHARE) this.#onceOnly = false;
    this.shared.setByRate(this.byRate);
  }
}
