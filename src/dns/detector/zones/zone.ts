/**
 * One zone as the guard sees it: what was asked in it this second, what is usual, whether it is under attack,
 * and whether its names can be learned at all. A wildcard's subtree is judged as a zone of its own.
 */
import { AnswerKind } from '../../protocol/index.ts';
import type { LearnedZone } from '../profileStore.ts';
import { FLOOR } from '../thresholds.ts';
import type { TokenBucket } from '../tokenBucket.ts';
import {
  ALARM_PER_SECOND,
  type Alarms,
  alarmsOf,
  isWatched,
  looksAttacked,
  NO_ALARMS,
  type NoticedBy,
  type ZoneLimits,
} from './alarms.ts';
import { AttackCounts } from './attackCounts.ts';
import { Baselines, type ZoneCounts } from './baselines.ts';
import { Denials } from './denials.ts';
import { OnceOnly } from './onceOnly.ts';
import { SeedOfZone } from './seedOfZone.ts';
import type { SharedZone } from './sharedZone.ts';

/** An attack is over when nothing looked like one for so long: floods pause and come back. */
const ATTACK_HOLD_MS = 30_000;
const SECOND_MS = 1000;
/** Ten minutes with traffic: before, every name is asked for once. */
const ONCE_ONLY_AFTER_SECONDS = 600;

/** What a zone is made with. */
export interface ZoneParts {
  /** 0 for the one outside every zone. */
  readonly number: number;
  readonly shared: SharedZone;
  readonly limits: ZoneLimits;
}

/** What a look at a zone counts for the account. */
export interface TickedZone {
  /** Queries of which thresholds may be learned. */
  readonly usual: number;
  /** Unknown names a second, where that says something. */
  readonly unknown: number;
}

export class Zone {
  /** Lower-case text without the last dot; empty for names outside every zone. */
  readonly name: string;
  readonly number: number;
  readonly limits: ZoneLimits;
  /** What every thread counts and knows of it. */
  readonly shared: SharedZone;
  readonly usual = new Baselines();
  readonly denials = new Denials();
  readonly seed = new SeedOfZone();
  /** What is known of its attack, for whoever tells of it. */
  readonly attackCounts = new AttackCounts();
  boundlessBy = '';
  attackedSinceMs = 0;
  noticedBy: NoticedBy = 'unknown_rate';
  // Answers of this second.
  answers = 0;
  nxdomains = 0;
  unknownAnswers = 0;
  unknownPositives = 0;
  readonly #onceOnly = new OnceOnly();
  #attackUntilMs = Number.NEGATIVE_INFINITY;
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #boundless = false;
  #tickedMs = 0;
  /** What an earlier run knew. */
  #before: Pick<LearnedZone, 'seeded' | 'boundlessBy'> = {};
  /** What was usual when its names were known: what is counted while they are not says nothing of what comes after. */
  #usualUnknown = this.usual.unknownNames();

  constructor(name: string, { number, shared, limits }: ZoneParts) {
    this.name = name;
    this.number = number;
    this.shared = shared;
    this.limits = limits;
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
    return this.#boundless || this.#onceOnly.is || this.seed.incomplete;
  }

  /** Whether all names of the zone are in the profile. */
  get seeded(): boolean {
    return this.seed.known;
  }

  /** Whether its names are still to come, and not enough was watched to do without. */
  get awaitsNames(): boolean {
    return this.shared.awaitsNames;
  }

  /** What an earlier run knew of it. */
  get before(): Pick<LearnedZone, 'seeded' | 'boundlessBy'> {
    return this.#before;
  }

  /** Its names will come. Until then, or until enough of its traffic without an attack was watched, no name is unknown. */
  awaitNames(): void {
    this.seed.expected = true;
    this.#updateAwaiting();
  }

  /** All its names are in the profile from now on. What was counted as unknown before they were says nothing. */
  noteSeeded(): void {
    if (!this.seed.known) {
      this.shared.forgetUnknown();
      this.unknownAnswers = 0;
      this.unknownPositives = 0;
      this.usual.resetUnknown(this.#usualUnknown);
    }
    this.seed.known = true;
    this.#updateAwaiting();
    this.#setAlarm();
  }

  /** Says whether names that it lists found no room. */
  setIncomplete(incomplete: boolean): void {
    this.seed.incomplete = incomplete;
    this.shared.setByRate(this.byRate);
  }

  /** For zones judged by rate alone; sized by the detector every second. */
  get bucket(): TokenBucket {
    return this.shared.bucket;
  }

  /** Unknown names a second from which it may be under attack; undefined while what is unknown here says nothing. */
  get alarmPerSecond(): number | undefined {
    const { perSecond, share } = this.#alarms();
    return share === Number.POSITIVE_INFINITY ? undefined : perSecond;
  }

  attacked(nowMs: number): boolean {
    return this.shared.attacked(nowMs);
  }

  /** Whether there is an attack to tell of: this one, or known names that are refused, from which nothing else follows. */
  noticed(nowMs: number): boolean {
    return this.attacked(nowMs) || nowMs < this.#refusedUntilMs;
  }

  #noteRefused(nowMs: number): void {
    if (!this.noticed(nowMs)) this.noticedBy = 'known_refused';
    this.#refusedUntilMs = nowMs + ATTACK_HOLD_MS;
  }

  /** Judges the zone before the second is over; called when the threads have counted enough unknown names. */
  alarm(nowMs: number): void {
    const { queries, unknown } = this.shared;
    const by = this.#looksAttacked(this.#counts(queries, unknown, nowMs));
    if (by !== undefined) this.attack(nowMs, by);
    else this.shared.setAttackedUntil(this.#attackUntilMs);
  }

  /** Under attack from now on, until nothing has looked so for a while. */
  attack(nowMs: number, by: NoticedBy = 'unknown_rate'): void {
    if (nowMs >= this.#attackUntilMs) {
      this.attackedSinceMs = nowMs;
      this.noticedBy = by;
    }
    this.#attackUntilMs = nowMs + ATTACK_HOLD_MS;
    this.shared.setAttackedUntil(this.#attackUntilMs);
  }

  /** As {@link attack}, where the zones of the account are attacked together and its names are known. */
  attackWithOthers(nowMs: number): void {
    if (this.#knowsNames()) this.attack(nowMs, 'account_rate');
  }

  /** Notes what an answer says, which teaches nothing while `attacked`; returns whether the name exists. */
  noteAnswer(kind: number, known: boolean, attacked: boolean): boolean {
    const { denials } = this;
    this.answers++;
    if (kind === AnswerKind.nxdomain || kind === AnswerKind.denial) this.nxdomains++;
    if (known)
      return kind === AnswerKind.records || kind === AnswerKind.noData || kind === AnswerKind.truncated;
    if (!attacked || kind === AnswerKind.denial) denials.note(kind);
    const isNeutral = kind === AnswerKind.noData && denials.noDataProves;
    if (!isNeutral) this.unknownAnswers++;
    if (kind === AnswerKind.records) this.unknownPositives++;
    return isNeutral || kind === AnswerKind.records;
  }

  /** Notes that a name that exists was answered; `first` when neither the profile nor its candidates had it. */
  notePositive(first: boolean): void {
    this.#onceOnly.note(first);
  }

  /** Ends the second: judges it and, unless the zone is under attack, learns from it. */
  tick(nowMs: number): TickedZone {
    const { queries, unknown, refusedByRate } = this.shared.takeCounts();
    const refusals = this.shared.takeRefusals();
    const counts = this.#counts(queries, unknown, nowMs);
    const by = this.#looksAttacked(counts) ?? (refusedByRate > 0 ? 'zone_rate' : undefined);
    if (by !== undefined) this.attack(nowMs, by);
    if (refusals.beyondUsual >= ALARM_PER_SECOND * counts.seconds) this.#noteRefused(nowMs);
    const attacked = this.attacked(nowMs);
    if (this.noticed(nowMs)) this.attackCounts.noteSecond(counts, refusals);
    if (!attacked && queries > 0) this.usual.learn(counts, this.byRate);
    if (this.usual.learnedSeconds >= ONCE_ONLY_AFTER_SECONDS) this.#onceOnly.update();
    this.shared.setByRate(this.byRate);
    this.#updateAwaiting();
    this.answers = 0;
    this.nxdomains = 0;
    this.unknownAnswers = 0;
    this.unknownPositives = 0;
    this.#tickedMs = nowMs;
    this.#setAlarm();
    // Of a zone under attack no more counts than is usual in it.
    const most = this.usual.ratePerSecond * counts.seconds;
    return {
      usual: attacked ? Math.min(queries - unknown, most) : queries,
      unknown: this.#knowsNames() ? unknown / counts.seconds : 0,
    };
  }

  learned(): LearnedZone {
    const { denials } = this;
    const { ratePerSecond, learnedSeconds, nxdomainShare } = this.usual;
    return {
      name: this.name,
      ...this.usual.unknownNames(),
      nxdomainShare,
      ratePerSecond,
      learnedSeconds,
      positiveAnswers: this.#onceOnly.answers,
      onceOnlyAnswers: this.#onceOnly.first,
      seeded: this.seed.known,
      boundlessBy: this.#boundless ? this.boundlessBy : '',
      generation: this.seed.generation,
      deniesByNoData: denials.byNoData,
      nxdomains: denials.nxdomains,
      noDatas: denials.noDatas,
    };
  }

  restore(learned: LearnedZone): void {
    this.usual.restore(learned);
    this.seed.generation = learned.generation ?? 0;
    this.denials.restore(learned);
    this.#onceOnly.answers = learned.positiveAnswers;
    this.#onceOnly.first = learned.onceOnlyAnswers;
    this.#before = learned;
    if (learned.seeded !== false) this.#usualUnknown = this.usual.unknownNames();
    if (this.usual.learnedSeconds >= ONCE_ONLY_AFTER_SECONDS) this.#onceOnly.update();
    this.shared.setByRate(this.byRate);
    this.#setAlarm();
  }

  /** A look that comes late has counted for longer. */
  #counts(queries: number, unknown: number, nowMs: number): ZoneCounts {
    const { answers, nxdomains } = this;
    const seconds = this.#tickedMs === 0 ? 1 : Math.max(1, (nowMs - this.#tickedMs) / SECOND_MS);
    return { seconds, queries, unknown, answers, nxdomains };
  }

  #looksAttacked(counts: ZoneCounts): NoticedBy | undefined {
    const unknownAnswers = { answers: this.unknownAnswers, positives: this.unknownPositives };
    return looksAttacked(counts, this.#alarms(), { usual: this.usual, unknownAnswers });
  }

  #alarms(): Alarms {
    return this.byRate ? NO_ALARMS : alarmsOf(this.usual, this.limits, this.seed.known);
  }

  #setAlarm(): void {
    const { perSecond, share, attackPerSecond } = this.#alarms();
    this.shared.setAlarm(perSecond, share, attackPerSecond);
  }

  /** Whether the names that are asked for here are known, all but a few. */
  #knowsNames(): boolean {
    return (this.seed.known || isWatched(this.usual, this.limits)) && !this.byRate;
  }

  #updateAwaiting(): void {
    const isShort = this.usual.learnedSeconds < this.limits.learnForSeconds;
    this.shared.setAwaitsNames(this.seed.expected && !this.seed.known && isShort);
  }
}
