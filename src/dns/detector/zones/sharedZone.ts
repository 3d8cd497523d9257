/** Counters and flags of one zone, shared by all threads. Only the detector's thread has the zone's other data. */
import { TokenBucket } from '../tokenBucket.ts';
import { UserEnd, type UserQueries } from '../userEnd.ts';

const QUERIES = 0;
const UNKNOWN = 1;
const REFUSED_BY_RATE = 2;
const ALARM_AT = 3;
/** Flags, from {@link BY_RATE} on, then mode and profile sensitivity in force in the zone. */
const FLAGS = 4;
const ATTACK_AT = 5;
/** Index of a 64-bit number (words 6 and 7): the time until which the zone counts as attacked. */
const ATTACK_UNTIL_MS = 3;
const BUCKET_OFFSET = 32;
/** Index of the 64-bit number after the token bucket: the share of unknown names that is an attack. */
const ALARM_SHARE = 7;
/** Maximum time for which a zone counts as attacked until the detector has checked it. A check takes milliseconds. */
const SUSPECT_MS = 1000;
const BY_RATE = 1;
const AWAITS_NAMES = 2;
const AWAITS_RATE = 4;
const ONLY_WHEN_UNHEALTHY = 8;
const MODE_SHIFT = 4;
const LEVEL_SHIFT = 6;
/** Two bits for each of mode and profile sensitivity. */
const POLICY_MASK = 3;
/** Alarm threshold that no count reaches. */
const NEVER = 0x7fff_ffff;
/** Index of the first counter in the second cache line, which the decision to pass a query does not touch. */
const REFUSED = 16;
const WOULD_REFUSE = 17;
const KNOWN_WOULD_REFUSE = 18;
/** Index of the counter of limited queries for known names that are evidence of an attack. */
const BEYOND_USUAL = 19;
/** Index of the counters of users' queries: one word per outcome (`UserEnd`). */
const USERS = 20;
/** Index of the counter of queries for learned names, which are not listed by the zone. */
const LEARNED = 23;
const LEARNED_BUCKET_OFFSET = 96;
/** Index of the zone number whose bucket limits this zone, plus 1. 0: see {@link SharedZone.payer}. */
const PAYER = 30;
/** Index of the counter of queries for which the account's bucket for zones without an attack had no token. */
const REFUSED_CALM = 31;
/**
 * Indexes of the counters, in the third cache line, of queries for known names that need a token at a higher profile
 * sensitivity: because of the query type, and because the name exceeds its usual rate.
 */
const UNKNOWN_TYPE = 32;
const ABOVE_USUAL = 33;
/** Bytes per zone: whole cache lines, so that threads that count queries of different zones do not contend. */
export const ZONE_BYTES = 192;

const modes = ['none', 'monitoring', 'enabled'] as const;
/** Mode in which a zone is protected. `none`: no rule is in force, or the rule or the zone's policy is disabled. */
export type ZoneProtection = (typeof modes)[number];

/** What the rule in force and the zone's policy prescribe for a zone. */
export interface ZoneSettings {
  readonly mode: ZoneProtection;
  /** Profile sensitivity, as a number (`profileLevel`). */
  readonly level: number;
  readonly onlyWhenUnhealthy: boolean;
  /** See {@link SharedZone.payer}. */
  readonly payer: number | undefined;
}

/** Numbers of queries. */
export interface CountedQueries {
  readonly queries: number;
  readonly unknown: number;
  /** Queries for known names that the zone does not list. */
  readonly learned: number;
  /** Queries for known names with an unknown type. If the zone is judged by query rate, only names that it lists. */
  readonly unknownType: number;
  /** Like `unknownType`, for names with a known type that exceed their usual rate. */
  readonly aboveUsual: number;
}

/** Numbers of limited queries. */
export interface Refusals {
  /** Queries that were dropped or truncated. */
  readonly limited: number;
  /** Queries over a limit that passed because the rule only monitors or may not drop yet. */
  readonly wouldDrop: number;
  /** Queries for known names among `wouldDrop`. */
  readonly knownWouldDrop: number;
  /** Queries for known names that were limited and are evidence of an attack. */
  readonly beyondUsual: number;
}

export class SharedZone {
  /** Limits queries for unknown names while the zone is judged by query rate, or if its policy sets a limit. */
  readonly bucket: TokenBucket;
  /** Limits queries for learned names while the zone is judged by query rate. */
  readonly learnedBucket: TokenBucket;
  readonly #words: Int32Array;
  readonly #times: Float64Array;

  constructor(memory: SharedArrayBuffer, index: number) {
    const offset = index * ZONE_BYTES;
    this.#words = new Int32Array(memory, offset, ZONE_BYTES / 4);
    this.#times = new Float64Array(memory, offset, ZONE_BYTES / 8);
    this.bucket = new TokenBucket(memory, offset + BUCKET_OFFSET);
    this.learnedBucket = new TokenBucket(memory, offset + LEARNED_BUCKET_OFFSET);
  }

  get mode(): ZoneProtection {
    return modes[(Atomics.load(this.#words, FLAGS) >>> MODE_SHIFT) & POLICY_MASK] ?? 'none';
  }

  /** Profile sensitivity, as a number (`profileLevel`). */
  get level(): number {
    return (Atomics.load(this.#words, FLAGS) >>> LEVEL_SHIFT) & POLICY_MASK;
  }

  /** Whether queries of the zone are limited only while the DNS servers are overloaded. */
  get onlyWhenUnhealthy(): boolean {
    return (Atomics.load(this.#words, FLAGS) & ONLY_WHEN_UNHEALTHY) !== 0;
  }

  /**
   * Number of the zone whose {@link bucket} limits this zone, because a policy sets the limit. Undefined if the limit
   * is learned: unknown names then take tokens of the account, or of the zone if it is judged by query rate.
   */
  get payer(): number | undefined {
    const word = Atomics.load(this.#words, PAYER);
    return word === 0 ? undefined : word - 1;
  }

  setPolicy({ mode, level, onlyWhenUnhealthy, payer }: ZoneSettings): void {
    const policy =
      (modes.indexOf(mode) << MODE_SHIFT) |
      (level << LEVEL_SHIFT) |
      (onlyWhenUnhealthy ? ONLY_WHEN_UNHEALTHY : 0);
    Atomics.store(this.#words, PAYER, payer === undefined ? 0 : payer + 1);
    // Only this thread writes the flags, so nothing is lost between the two operations.
    const others = Atomics.load(this.#words, FLAGS) & (BY_RATE | AWAITS_NAMES | AWAITS_RATE);
    Atomics.store(this.#words, FLAGS, others | policy);
  }

  /**
   * Counts a query. Returns true if the number of unknown names in this second has reached the alarm threshold. Only
   * one thread gets true, because the threshold is then raised.
   */
  count(unknown: boolean): boolean {
    Atomics.add(this.#words, QUERIES, 1);
    if (!unknown) return false;
    const count = Atomics.add(this.#words, UNKNOWN, 1) + 1;
    const alarmAt = Atomics.load(this.#words, ALARM_AT);
    return count >= alarmAt && this.#raiseAlarm(alarmAt);
  }

  /**
   * Doubles the alarm threshold (the number of unknown names at which {@link count} returns true), but does not skip
   * the number that is an attack regardless of the share. Returns false if another thread has already raised it.
   */
  #raiseAlarm(alarmAt: number): boolean {
    const attackAt = Atomics.load(this.#words, ATTACK_AT);
    const next = Math.min(NEVER, alarmAt * 2, alarmAt < attackAt ? attackAt : NEVER);
    return Atomics.compareExchange(this.#words, ALARM_AT, alarmAt, next) === alarmAt;
  }

  /** Counts a query for a learned name, in addition to {@link count}. */
  countLearned(): void {
    Atomics.add(this.#words, LEARNED, 1);
  }

  countUnknownType(): void {
    Atomics.add(this.#words, UNKNOWN_TYPE, 1);
  }

  countAboveUsual(): void {
    Atomics.add(this.#words, ABOVE_USUAL, 1);
  }

  countRefusedByRate(): void {
    Atomics.add(this.#words, REFUSED_BY_RATE, 1);
  }

  countRefusedCalm(): void {
    Atomics.add(this.#words, REFUSED_CALM, 1);
  }

  countBeyondUsual(): void {
    Atomics.add(this.#words, BEYOND_USUAL, 1);
  }

  get queries(): number {
    return Atomics.load(this.#words, QUERIES);
  }

  get unknown(): number {
    return Atomics.load(this.#words, UNKNOWN);
  }

  takeCounts(): CountedQueries & { readonly refusedByRate: number; readonly refusedCalm: number } {
    return {
      refusedCalm: Atomics.exchange(this.#words, REFUSED_CALM, 0),
      learned: Atomics.exchange(this.#words, LEARNED, 0),
      unknownType: Atomics.exchange(this.#words, UNKNOWN_TYPE, 0),
      aboveUsual: Atomics.exchange(this.#words, ABOVE_USUAL, 0),
      queries: Atomics.exchange(this.#words, QUERIES, 0),
      unknown: Atomics.exchange(this.#words, UNKNOWN, 0),
      refusedByRate: Atomics.exchange(this.#words, REFUSED_BY_RATE, 0),
    };
  }

  /**
   * Sets the alarm thresholds of the current second:
   * - `unknownNames`: number of unknown names at which {@link count} returns true, so that the detector is called.
   * - `share`: share of unknown names that is an attack.
   * - `attackAt`: number of unknown names that is an attack, regardless of the share.
   */
  setAlarm(unknownNames: number, share: number, attackAt: number): void {
    Atomics.store(this.#words, ATTACK_AT, Math.min(NEVER, Math.ceil(attackAt)));
    Atomics.store(this.#words, ALARM_AT, Math.min(NEVER, Math.ceil(unknownNames)));
    this.#times[ALARM_SHARE] = share;
  }

  /**
   * Marks the zone as attacked until the detector has checked it, if the counts of this second indicate an attack.
   * The thread does not wait for the detector, because a flood does damage within milliseconds.
   */
  suspect(nowMs: number): void {
    const { unknown } = this;
    const share = this.#times[ALARM_SHARE] ?? Number.POSITIVE_INFINITY;
    const looksAttacked = unknown >= share * this.queries || unknown >= Atomics.load(this.#words, ATTACK_AT);
    if (looksAttacked && !this.attacked(nowMs)) this.setAttackedUntil(nowMs + SUSPECT_MS);
  }

  get byRate(): boolean {
    return (Atomics.load(this.#words, FLAGS) & BY_RATE) !== 0;
  }

  /** Whether the zone is judged by query rate, but its usual rate is not known yet. Every query then passes. */
  get awaitsRate(): boolean {
    return (Atomics.load(this.#words, FLAGS) & AWAITS_RATE) !== 0;
  }

  setByRate(byRate: boolean, awaitsRate: boolean): void {
    // Set the flags in this order. Otherwise, a thread could limit the zone before its usual rate is known.
    if (awaitsRate) this.#setFlag(AWAITS_RATE, true);
    this.#setFlag(BY_RATE, byRate);
    if (!awaitsRate) this.#setFlag(AWAITS_RATE, false);
  }

  /** Whether the zone is still to be seeded and was not observed for long. If so, none of its names is unknown. */
  get awaitsNames(): boolean {
    return (Atomics.load(this.#words, FLAGS) & AWAITS_NAMES) !== 0;
  }

  setAwaitsNames(awaitsNames: boolean): void {
    this.#setFlag(AWAITS_NAMES, awaitsNames);
  }

  #setFlag(flag: number, isSet: boolean): void {
    if (isSet) Atomics.or(this.#words, FLAGS, flag);
    else Atomics.and(this.#words, FLAGS, ~flag);
  }

  /** Counts a limited query. `isRefused`: true if it was dropped or truncated, false if it passed. */
  countRefusal(isRefused: boolean, isKnown: boolean): void {
    Atomics.add(this.#words, isRefused ? REFUSED : WOULD_REFUSE, 1);
    if (isKnown && !isRefused) Atomics.add(this.#words, KNOWN_WOULD_REFUSE, 1);
  }

  takeRefusals(): Refusals {
    return {
      limited: Atomics.exchange(this.#words, REFUSED, 0),
      wouldDrop: Atomics.exchange(this.#words, WOULD_REFUSE, 0),
      knownWouldDrop: Atomics.exchange(this.#words, KNOWN_WOULD_REFUSE, 0),
      beyondUsual: Atomics.exchange(this.#words, BEYOND_USUAL, 0),
    };
  }

  countUser(end: UserEnd): void {
    Atomics.add(this.#words, USERS + end, 1);
  }

  takeUsers(): UserQueries {
    const taken = (end: UserEnd): number => Atomics.exchange(this.#words, USERS + end, 0);
    return {
      answered: taken(UserEnd.answered),
      limited: taken(UserEnd.limited),
      unanswered: taken(UserEnd.unanswered),
    };
  }

  /** Discards the unknown names counted in this second, because they were counted before the zone was seeded. */
  forgetUnknown(): void {
    Atomics.store(this.#words, UNKNOWN, 0);
  }

  attacked(nowMs: number): boolean {
    return nowMs < (this.#times[ATTACK_UNTIL_MS] ?? 0);
  }

  setAttackedUntil(timeMs: number): void {
    this.#times[ATTACK_UNTIL_MS] = timeMs;
  }
}
