/** A zone's counters and flags, shared by all threads. The detector's thread owns all other data of the zone. */
import { TokenBucket } from '../tokenBucket.ts';
import { UserEnd, type UserQueries } from '../userEnd.ts';

const QUERIES = 0;
const UNKNOWN = 1;
const REFUSED_BY_RATE = 2;
const ALARM_AT = 3;
/** Flags: {@link BY_RATE}, {@link AWAITS_NAMES} and {@link AWAITS_RATE}. */
const FLAGS = 4;
const ATTACK_AT = 5;
/** Index of the 64-bit number in words 6 and 7. */
const ATTACK_UNTIL_MS = 3;
const BUCKET_OFFSET = 32;
/** Index of the 64-bit number after the bucket. */
const ALARM_SHARE = 7;
/** Maximum time to treat a zone as attacked before the detector has checked it. The check takes milliseconds. */
const SUSPECT_MS = 1000;
const BY_RATE = 1;
const AWAITS_NAMES = 2;
const AWAITS_RATE = 4;
/** Alarm threshold that no count reaches. */
const NEVER = 0x7fff_ffff;
/** Counters of limited queries, in their own cache line, so that passing queries do not touch it. */
const REFUSED = 16;
const WOULD_REFUSE = 17;
const KNOWN_WOULD_REFUSE = 18;
/** Limited queries for known names that are evidence of an attack. */
const BEYOND_USUAL = 19;
/** One word per outcome (`UserEnd`) of users' queries. */
const USERS = 24;
/** Bytes per zone: two cache lines, so that threads that count queries of different zones do not contend. */
export const ZONE_BYTES = 128;

/** Limited queries. `limited`: dropped or truncated. `wouldDrop`: passed, because the rule may not drop them. */
export interface Refusals {
  readonly limited: number;
  readonly wouldDrop: number;
  /** Queries for known names among `wouldDrop`. */
  readonly knownWouldDrop: number;
  /** Limited queries for known names that are evidence of an attack. */
  readonly beyondUsual: number;
}

export class SharedZone {
  readonly bucket: TokenBucket;
  readonly #words: Int32Array;
  readonly #times: Float64Array;

  constructor(memory: SharedArrayBuffer, index: number) {
    const offset = index * ZONE_BYTES;
    this.#words = new Int32Array(memory, offset, ZONE_BYTES / 4);
    this.#times = new Float64Array(memory, offset, ZONE_BYTES / 8);
    this.bucket = new TokenBucket(memory, offset + BUCKET_OFFSET);
  }

  /** Counts a query. Returns true, to one thread per alarm, if this second's unknown names reach the alarm. */
  count(unknown: boolean): boolean {
    Atomics.add(this.#words, QUERIES, 1);
    if (!unknown) return false;
    const count = Atomics.add(this.#words, UNKNOWN, 1) + 1;
    const alarmAt = Atomics.load(this.#words, ALARM_AT);
    return count >= alarmAt && this.#raiseAlarm(alarmAt);
  }

  /**
   * Doubles the number of unknown names at which {@link count} requests a check, but does not skip the number that is
   * certainly an attack. Returns false if another thread has already changed the number.
   */
  #raiseAlarm(alarmAt: number): boolean {
    const attackAt = Atomics.load(this.#words, ATTACK_AT);
    const next = Math.min(NEVER, alarmAt * 2, alarmAt < attackAt ? attackAt : NEVER);
    return Atomics.compareExchange(this.#words, ALARM_AT, alarmAt, next) === alarmAt;
  }

  countRefusedByRate(): void {
    Atomics.add(this.#words, REFUSED_BY_RATE, 1);
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

  takeCounts(): { queries: number; unknown: number; refusedByRate: number } {
    return {
      queries: Atomics.exchange(this.#words, QUERIES, 0),
      unknown: Atomics.exchange(this.#words, UNKNOWN, 0),
      refusedByRate: Atomics.exchange(this.#words, REFUSED_BY_RATE, 0),
    };
  }

  /**
   * Sets this second's alarms:
   * - `unknownNames`: number of unknown names at which {@link count} requests a check.
   * - `share`: share of unknown names that is an attack.
   * - `attackAt`: number of unknown names that is an attack, regardless of the share.
   */
  setAlarm(unknownNames: number, share: number, attackAt: number): void {
    Atomics.store(this.#words, ATTACK_AT, Math.min(NEVER, Math.ceil(attackAt)));
    Atomics.store(this.#words, ALARM_AT, Math.min(NEVER, Math.ceil(unknownNames)));
    this.#times[ALARM_SHARE] = share;
  }

  /**
   * If the counts indicate an attack, marks the zone as attacked until the detector has checked it, because a flood
   * does damage within milliseconds.
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

  /** Whether the zone is judged by query rate, but the usual rate is unknown. Every query then passes. */
  get awaitsRate(): boolean {
    return (Atomics.load(this.#words, FLAGS) & AWAITS_RATE) !== 0;
  }

  setByRate(byRate: boolean, awaitsRate: boolean): void {
    // Set the flags in this order, so that no thread limits the zone by an unknown rate.
    if (awaitsRate) this.#setFlag(AWAITS_RATE, true);
    this.#setFlag(BY_RATE, byRate);
    if (!awaitsRate) this.#setFlag(AWAITS_RATE, false);
  }

  /** Whether the zone is still being seeded. Meanwhile, none of its names counts as unknown. */
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

  /** Counts a limited query. `isRefused`: dropped or truncated; otherwise it passed because the rule may not drop. */
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

  /** Discards unknown names counted before the zone was seeded. */
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
