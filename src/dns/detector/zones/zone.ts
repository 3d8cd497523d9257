/**
 * State of one DNS zone: counts of the current second, baselines, whether the zone is under attack, and whether its
 * names can be learned. The subtree below a wildcard or delegation is a separate zone.
 */
import type { ZonePolicy } from '../../../rules/index.ts';
import { AnswerKind } from '../../protocol/index.ts';
import { FLOOR_PER_SECOND } from '../limits/thresholds.ts';
import type { LearnedZone } from '../profileStore.ts';
import type { TokenBucket } from '../tokenBucket.ts';
import type { UserQueries } from '../userEnd.ts';
import {
  ALARM_PER_SECOND,
  type Alarms,
  alarmsOf,
  attackCriterion,
  type DetectedBy,
  floodPerSecond,
  isWatched,
  NO_ALARMS,
  unusualPerSecond,
  type ZoneLimits,
} from './alarms.ts';
import { Allowance } from './allowance.ts';
import { AttackCounts } from './attackCounts.ts';
import { Baselines, type UsualUnknown, type ZoneCounts } from './baselines.ts';
import { Denials } from './denials.ts';
import { OneTimeNames } from './oneTimeNames.ts';
import { SeedState } from './seedState.ts';
import type { CountedQueries, SharedZone } from './sharedZone.ts';
import { UnknownHours } from './unknownHours.ts';

/** An attack ends after this time without a sign of an attack. The time is long because floods pause and resume. */
const ATTACK_HOLD_MS = 30_000;
const SECOND_MS = 1000;
/**
 * Seconds of traffic (ten minutes) after which a zone can be detected as one with one-time names. Before that, nearly
 * every name is queried for the first time.
 */
const ONCE_ONLY_AFTER_SECONDS = 600;
/** Seconds of traffic (one day) in which a zone is limited only if its servers are overloaded. */
const FREE_SECONDS = 24 * 3600;
/** Names below these zones are reversed addresses. Crawlers query them one after the other. */
const REVERSE_ZONE = /(^|\.)(in-addr|ip6)\.arpa$/;

export interface ZoneParts {
  /** Zone number. Number 0 stands for names outside every known zone. */
  readonly number: number;
  readonly shared: SharedZone;
  readonly limits: ZoneLimits;
  readonly policy: ZonePolicy | undefined;
}

/** State of the whole guard that a zone depends on. */
export interface GuardState {
  /** Whether the DNS servers have answered in time for long enough that genuine traffic need not be limited. */
  readonly isRelaxed: boolean;
}

/** Counts of a zone that the detector adds to the account's totals every second. */
export interface TickedZone {
  /** Number of queries that may raise the account's threshold. */
  readonly usual: number;
  /**
   * Unknown names per second. 0 if the guard does not know nearly all names of the zone, or if the zone is under attack
   * by its own criteria.
   */
  readonly unknown: number;
  /** Number of queries that were not limited. */
  readonly passed: number;
  /** Number of queries for which the account's bucket for zones without an attack had no token. */
  readonly refusedCalm: number;
  readonly counted: CountedQueries;
  readonly users: UserQueries;
}

export class Zone {
  /** Zone name in lower case without the trailing dot. Empty for names outside every known zone. */
  readonly name: string;
  readonly number: number;
  readonly limits: ZoneLimits;
  readonly shared: SharedZone;
  usual: Baselines;
  denials = new Denials();
  readonly seed = new SeedState();
  allowance = new Allowance();
  /** Whether queries were limited by the zone's rate in the last second. */
  isLimitedByRate = false;
  /** Counts that are collected while an attack on the zone is reported. */
  readonly attackCounts = new AttackCounts();
  boundlessBy = '';
  attackedSinceMs = 0;
  detectedBy: DetectedBy = 'unknown_rate';
  // Answers in the current second.
  answers = 0;
  nxdomains = 0;
  unknownAnswers = 0;
  unknownPositives = 0;
  #onceOnly = new OneTimeNames();
  #unknownHours = new UnknownHours();
  readonly #isReverse: boolean;
  #policy: ZonePolicy | undefined;
  #isRelaxed = true;
  #attackUntilMs = Number.NEGATIVE_INFINITY;
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #anyNameExists = false;
  #tickedMs = 0;
  #previousRun: Pick<LearnedZone, 'seeded' | 'boundlessBy'> = {};
  /**
   * Initial or stored baseline of unknown names. It replaces the current baseline when the zone is seeded, because
   * existing names counted as unknown before.
   */
  #usualUnknown: UsualUnknown;

  constructor(name: string, { number, shared, limits, policy }: ZoneParts) {
    this.name = name;
    this.number = number;
    this.shared = shared;
    this.limits = limits;
    this.usual = new Baselines(limits.learnForSeconds);
    this.#usualUnknown = this.usual.unknownNames();
    this.#isReverse = REVERSE_ZONE.test(name);
    this.#policy = policy;
    this.#update();
  }

  /**
   * Whether every name below the zone's name exists, because the zone's name is a delegation, a DNAME or the parent
   * of a wildcard. Set when the zone named `boundlessBy`, which contains that record, is seeded.
   */
  get anyNameExists(): boolean {
    return this.#anyNameExists;
  }

  set anyNameExists(boundless: boolean) {
    this.#anyNameExists = boundless;
    this.#updateByRate();
  }

  /**
   * Marks the zone as one in which every name exists. `by`: name of the zone that contains the wildcard or delegation.
   * Returns false, and changes nothing, if another zone contains it and this zone has a seed of its own: its names are
   * or will be known.
   */
  markBoundless(by: string): boolean {
    if (by !== this.name && (this.seed.known || this.seed.expected)) return false;
    this.boundlessBy = by;
    this.anyNameExists = true;
    return true;
  }

  /** Policy that covers the zone: its own, or that of the closest zone above it that has one. */
  get policy(): ZonePolicy | undefined {
    return this.#policy;
  }

  set policy(policy: ZonePolicy | undefined) {
    this.#policy = policy;
    this.#update();
  }

  /** Whether the zone is judged only by query rate: by its policy, or because unknown names are no evidence in it. */
  get byRate(): boolean {
    const judgeBy = this.#policy?.judge_by ?? 'auto';
    if (judgeBy !== 'auto') return judgeBy === 'rate';
    return (
      this.#anyNameExists ||
      this.#isReverse ||
      this.#onceOnly.is ||
      this.#unknownHours.isMostlyUnknown ||
      this.seed.listsAddresses ||
      this.seed.incomplete
    );
  }

  /**
   * Whether every query passes, because the zone is judged by query rate and its usual rate is not known: during the
   * learning time, and on its first day of traffic while the servers answer in time.
   */
  get awaitsRate(): boolean {
    if (!this.byRate || (this.#policy?.rate ?? null) !== null) return false;
    return this.usual.isFresh || (this.#isRelaxed && this.usual.learnedSeconds < FREE_SECONDS);
  }

  /** Whether all names of the zone are in the profile. */
  get seeded(): boolean {
    return this.seed.known;
  }

  /** Whether the zone will be seeded, but is not yet, and was not observed for the learning time either. */
  get awaitsNames(): boolean {
    return this.shared.awaitsNames;
  }

  get previousRun(): Pick<LearnedZone, 'seeded' | 'boundlessBy'> {
    return this.#previousRun;
  }

  /**
   * Announces that the zone will be seeded. No name of the zone counts as unknown until the zone is seeded or was
   * observed for the learning time.
   */
  awaitNames(): void {
    this.seed.expected = true;
    this.#ignoreParent();
    this.#updateAwaiting();
  }

  /** Removes the mark that a parent's delegation or wildcard set before this zone had a seed of its own. */
  #ignoreParent(): void {
    if (this.boundlessBy !== this.name) this.anyNameExists = false;
  }

  /** Marks the zone as seeded. Discards earlier counts of unknown names. */
  noteSeeded(): void {
    if (!this.seed.known) {
      this.shared.forgetUnknown();
      this.unknownAnswers = 0;
      this.unknownPositives = 0;
      this.usual.resetUnknown(this.#usualUnknown);
    }
    this.seed.known = true;
    this.#ignoreParent();
    this.#updateAwaiting();
    this.#setAlarm();
  }

  setIncomplete(incomplete: boolean): void {
    this.seed.incomplete = incomplete;
    this.#updateByRate();
  }

  /** Token bucket for unknown names. The detector resizes it every second. */
  get bucket(): TokenBucket {
    return this.shared.bucket;
  }

  /** Unknown names per second that may be an attack. Undefined if unknown names are no evidence of an attack. */
  get alarmPerSecond(): number | undefined {
    const { perSecond, share } = this.#alarms();
    return share === Number.POSITIVE_INFINITY ? undefined : perSecond;
  }

  attacked(nowMs: number): boolean {
    return this.shared.attacked(nowMs);
  }

  /** Whether an attack on the zone is reported. Limited queries cause a report, but not the state "attacked". */
  isReported(nowMs: number): boolean {
    return this.attacked(nowMs) || nowMs < this.#refusedUntilMs;
  }

  #noteRefused(nowMs: number, by: DetectedBy): void {
    if (!this.isReported(nowMs)) this.detectedBy = by;
    this.#refusedUntilMs = nowMs + ATTACK_HOLD_MS;
  }

  /** Checks the zone for an attack before the second ends. Call if unknown names have reached the alarm threshold. */
  evaluateEarly(nowMs: number): void {
    const { queries, unknown } = this.shared;
    const by = this.#looksAttacked(this.#counts(queries, unknown, nowMs));
    if (by !== undefined) this.markAttacked(nowMs, by);
    else this.shared.setAttackedUntil(this.#attackUntilMs);
  }

  /** Marks the zone as attacked until ATTACK_HOLD_MS have passed without a sign of an attack. */
  markAttacked(nowMs: number, by: DetectedBy = 'unknown_rate'): void {
    if (nowMs >= this.#attackUntilMs) {
      this.attackedSinceMs = nowMs;
      this.detectedBy = by;
    }
    this.#attackUntilMs = nowMs + ATTACK_HOLD_MS;
    this.shared.setAttackedUntil(this.#attackUntilMs);
  }

  /**
   * Marks the zone as attacked because all zones of the account together exceed the threshold. Does nothing if its
   * number of unknown names is usual, or if the guard does not know nearly all names of the zone.
   */
  markAttackedWithAccount(unknownPerSecond: number, nowMs: number): void {
    if (this.#knowsNames() && unknownPerSecond >= unusualPerSecond(this.usual))
      this.markAttacked(nowMs, 'account_rate');
  }

  /**
   * Counts an answer from the zone. Unless the zone is `attacked`, NXDOMAIN and NODATA answers show how the zone
   * denies names.
   */
  noteAnswer(kind: number, known: boolean, attacked: boolean): void {
    const { denials } = this;
    this.answers++;
    // NXDOMAIN for a known name does not indicate random names: the name or the target of its alias was removed.
    if (known) return;
    if (kind === AnswerKind.nxdomain || kind === AnswerKind.denial) this.nxdomains++;
    if (!attacked || kind === AnswerKind.denial) denials.note(kind);
    const isNeutral = kind === AnswerKind.noData && denials.noDataProves;
    if (!isNeutral) this.unknownAnswers++;
    if (kind === AnswerKind.records) this.unknownPositives++;
  }

  /** Whether an answer of this kind (`AnswerKind`) proves that the queried name exists. */
  proves(kind: number, known: boolean): boolean {
    if (kind === AnswerKind.records) return true;
    if (kind === AnswerKind.noData) return known || this.denials.noDataProves;
    return known && kind === AnswerKind.truncated;
  }

  /** Counts a positive answer. `first`: the name was neither in the profile nor among its candidates. */
  notePositive(first: boolean): void {
    this.#onceOnly.note(first);
    if (first) this.denials.noteNew();
  }

  /**
   * Ends the current second: checks the zone for an attack, and updates the baselines. During an attack, not all
   * baselines are updated.
   */
  tick(nowMs: number, { isRelaxed }: GuardState): TickedZone {
    this.#isRelaxed = isRelaxed;
    this.#noteClock(nowMs);
    const taken = this.shared.takeCounts();
    const { queries, unknown, learned, refusedByRate, refusedCalm } = taken;
    const refusals = this.shared.takeRefusals();
    const users = this.shared.takeUsers();
    const counts = { ...this.#counts(queries, unknown, nowMs), learned };
    const by = this.#looksAttacked(counts);
    if (by !== undefined) this.markAttacked(nowMs, by);
    // Report a zone above its rate limit, but do not mark it as attacked: in an attacked zone, names are learned
    // only after answers on three days.
    this.isLimitedByRate = refusedByRate > 0;
    if (refusedByRate > 0) this.#noteRefused(nowMs, 'zone_rate');
    if (refusals.beyondUsual >= ALARM_PER_SECOND * counts.seconds) this.#noteRefused(nowMs, 'known_limited');
    const attacked = this.attacked(nowMs);
    if (this.isReported(nowMs)) this.attackCounts.noteSecond(counts, refusals, users);
    const isEnforced = this.shared.mode === 'enabled';
    this.#unknownHours.add(counts, !isRelaxed || (attacked && isEnforced), nowMs);
    if (queries > 0) this.#learn(counts, attacked, isEnforced);
    if (this.usual.learnedSeconds >= ONCE_ONLY_AFTER_SECONDS) this.#onceOnly.update();
    this.answers = 0;
    this.nxdomains = 0;
    this.unknownAnswers = 0;
    this.unknownPositives = 0;
    this.#tickedMs = nowMs;
    this.#update();
    return {
      passed: queries - refusals.limited,
      refusedCalm,
      counted: taken,
      users,
      usual: Math.min(
        attacked ? queries - unknown : queries,
        this.#mostUsual(attacked, refusedByRate > 0) * counts.seconds,
      ),
      unknown: this.#knowsNames() && !this.#isAttackedAlone(nowMs) ? unknown / counts.seconds : 0,
    };
  }

  /** Whether the zone is under attack by its own criteria, so that other zones need not be. */
  #isAttackedAlone(nowMs: number): boolean {
    return this.attacked(nowMs) && this.detectedBy !== 'account_rate';
  }

  /** Maximum number of queries per second of this zone that may raise the account's threshold. */
  #mostUsual(attacked: boolean, isLimited: boolean): number {
    const usual = this.usual.busiest.all.perSecond;
    if (attacked) return usual;
    if (this.awaitsRate) return FLOOR_PER_SECOND;
    return isLimited ? Math.max(FLOOR_PER_SECOND, usual) : Number.POSITIVE_INFINITY;
  }

  /** While a rule is not enforced, nothing is limited, so that rates are also learned during an attack. */
  #learn(counts: ZoneCounts, attacked: boolean, isEnforced: boolean): void {
    const isFree = this.byRate ? this.awaitsRate : this.usual.learnedSeconds < FREE_SECONDS && !attacked;
    if (this.byRate || !attacked || !isEnforced) this.usual.learnRates(counts, isFree);
    const isFlood = counts.unknown >= floodPerSecond(this.#effectiveLimits()) * counts.seconds;
    if (!attacked || !isFlood) this.usual.learnUnknown(counts, attacked);
  }

  /** Discards all that was learned from traffic. What is known from the zone's data and its policy remains. */
  forget(): void {
    this.usual = new Baselines(this.limits.learnForSeconds);
    this.#usualUnknown = this.usual.unknownNames();
    this.denials = new Denials();
    this.allowance = new Allowance();
    this.#onceOnly = new OneTimeNames();
    this.#unknownHours = new UnknownHours();
    this.#update();
  }

  learned(): LearnedZone {
    const { denials } = this;
    const { busiest, learnedSeconds, nxdomainShare } = this.usual;
    return {
      name: this.name,
      ...this.usual.unknownNames(),
      nxdomainShare,
      ratePerSecond: busiest.all.perSecond,
      busiestUnknownPerSecond: busiest.unknown.perSecond,
      busiestLearnedPerSecond: busiest.learned.perSecond,
      unknownHours: this.#unknownHours.stored(),
      learnedSeconds,
      positiveAnswers: this.#onceOnly.answers,
      onceOnlyAnswers: this.#onceOnly.first,
      seeded: this.seed.known,
      boundlessBy: this.#anyNameExists ? this.boundlessBy : '',
      generation: this.seed.generation,
      deniesByNoData: denials.byNoData,
      nxdomains: denials.nxdomains,
      noDatas: denials.noDatas,
      positives: denials.positives,
    };
  }

  restore(learned: LearnedZone): void {
    this.usual.restore(learned);
    this.seed.generation = learned.generation ?? 0;
    this.denials.restore(learned);
    if (learned.unknownHours !== undefined) this.#unknownHours.restore(learned.unknownHours);
    this.#onceOnly.answers = learned.positiveAnswers;
    this.#onceOnly.first = learned.onceOnlyAnswers;
    this.#previousRun = learned;
    if (learned.seeded !== false) this.#usualUnknown = this.usual.unknownNames();
    if (this.usual.learnedSeconds >= ONCE_ONLY_AFTER_SECONDS) this.#onceOnly.update();
    this.#update();
  }

  /** If the clock was set back, an attack must not last longer by the difference. */
  #noteClock(nowMs: number): void {
    const latestMs = nowMs + ATTACK_HOLD_MS;
    this.#refusedUntilMs = Math.min(this.#refusedUntilMs, latestMs);
    if (this.#attackUntilMs <= latestMs) return;
    this.#attackUntilMs = latestMs;
    this.shared.setAttackedUntil(latestMs);
  }

  /** Returns the counts since the last tick. If the tick is late, they cover more than one second. */
  #counts(queries: number, unknown: number, nowMs: number): ZoneCounts {
    const { answers, nxdomains } = this;
    const seconds = this.#tickedMs === 0 ? 1 : Math.max(1, (nowMs - this.#tickedMs) / SECOND_MS);
    return { seconds, queries, unknown, learned: 0, answers, nxdomains };
  }

  #looksAttacked(counts: ZoneCounts): DetectedBy | undefined {
    const unknownAnswers = { answers: this.unknownAnswers, positives: this.unknownPositives };
    return attackCriterion(counts, this.#alarms(), { usual: this.usual, unknownAnswers });
  }

  #alarms(): Alarms {
    return this.byRate ? NO_ALARMS : alarmsOf(this.usual, this.#effectiveLimits(), this.seed.known);
  }

  /** Limits of the guard, with the number of unknown names that the zone's policy sets. */
  #effectiveLimits(): ZoneLimits {
    const unknown = this.#policy?.unknown_per_second ?? undefined;
    return unknown === undefined ? this.limits : { ...this.limits, unknownOfPolicy: unknown };
  }

  #update(): void {
    this.#updateByRate();
    this.#updateAwaiting();
    this.#setAlarm();
  }

  #setAlarm(): void {
    const { perSecond, share, attackPerSecond } = this.#alarms();
    this.shared.setAlarm(perSecond, share, attackPerSecond);
  }

  #knowsNames(): boolean {
    return (this.seed.known || isWatched(this.usual, this.limits)) && !this.byRate;
  }

  #updateByRate(): void {
    this.shared.setByRate(this.byRate, this.awaitsRate);
  }

  #updateAwaiting(): void {
    this.shared.setAwaitsNames(this.seed.expected && !this.seed.known && this.usual.isFresh);
  }
}
