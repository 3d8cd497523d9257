/** What every thread that decides about queries must know and count of a zone, in shared memory: the rest is the zone's own. */
import { TokenBucket } from '../tokenBucket.ts';

const QUERIES = 0;
const UNKNOWN = 1;
const REFUSED_BY_RATE = 2;
const ALARM_AT = 3;
/** {@link BY_RATE} and {@link AWAITS_NAMES}. */
const FLAGS = 4;
const ATTACK_AT = 5;
/** Words 6 and 7, as one 64-bit number. */
const ATTACK_UNTIL_MS = 3;
const BUCKET_OFFSET = 32;
/** Behind the bucket, as a 64-bit number. */
const ALARM_SHARE = 7;
/** So long a thread may take a zone for attacked before the detector has looked: it does within milliseconds. */
const SUSPECT_MS = 1000;
const BY_RATE = 1;
const AWAITS_NAMES = 2;
/** No count reaches it. */
const NEVER = 0x7fff_ffff;
/** Of queries that are refused: in a cache line of their own, touched for none that pass. */
const REFUSED = 16;
const WOULD_REFUSE = 17;
const KNOWN_REFUSED = 18;
/** Of those for known names, what was asked beyond what is usual. */
const BEYOND_USUAL = 19;
/** Two cache lines: threads that count in different zones do not wait for each other. */
export const ZONE_BYTES = 128;

/** Queries that were refused, or that would have been were the rule enabled. */
export interface Refusals {
  readonly refused: number;
  readonly wouldRefuse: number;
  /** Of both, those for names that are known; */
  readonly known: number;
  /** and of these, what was asked beyond what is usual. */
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

  /** Counts a query; true when its name is one unknown name too many and the zone must be looked at now. Says so once. */
  count(unknown: boolean): boolean {
    Atomics.add(this.#words, QUERIES, 1);
    if (!unknown) return false;
    const count = Atomics.add(this.#words, UNKNOWN, 1) + 1;
    const alarmAt = Atomics.load(this.#words, ALARM_AT);
    return count >= alarmAt && this.#raiseAlarm(alarmAt);
  }

  /** The next look is at twice the count, and not later than what is an attack for certain. False where another thread was faster. */
  #raiseAlarm(alarmAt: number): boolean {
    const attackAt = Atomics.load(this.#words, ATTACK_AT);
    const next = Math.min(NEVER, alarmAt * 2, alarmAt < attackAt ? attackAt : NEVER);
    return Atomics.compareExchange(this.#words, ALARM_AT, alarmAt, next) === alarmAt;
  }

  countRefusedByRate(): void {
    Atomics.add(this.#words, REFUSED_BY_RATE, 1);
  }

  /** Counts a query for a known name that was refused, or would have been, as it is beyond what is usual. */
  countBeyondUsual(): void {
    Atomics.add(this.#words, BEYOND_USUAL, 1);
  }

  get queries(): number {
    return Atomics.load(this.#words, QUERIES);
  }

  get unknown(): number {
    return Atomics.load(this.#words, UNKNOWN);
  }

  /** What was counted since the last call. */
  takeCounts(): { queries: number; unknown: number; refusedByRate: number } {
    return {
      queries: Atomics.exchange(this.#words, QUERIES, 0),
      unknown: Atomics.exchange(this.#words, UNKNOWN, 0),
      refusedByRate: Atomics.exchange(this.#words, REFUSED_BY_RATE, 0),
    };
  }

  /**
   * The count of unknown names at which {@link count} asks for a look at the zone, the share of the zone's queries at which they
   * are an attack for all that can be told here, and the count that is one whatever its share.
   */
  setAlarm(unknownNames: number, share: number, attackAt: number): void {
    Atomics.store(this.#words, ATTACK_AT, Math.min(NEVER, Math.ceil(attackAt)));
    Atomics.store(this.#words, ALARM_AT, Math.min(NEVER, Math.ceil(unknownNames)));
    this.#times[ALARM_SHARE] = share;
  }

  /** Takes the zone for attacked, where it looks so, until the detector has looked: a flood of a few milliseconds is long. */
  suspect(nowMs: number): void {
    const { unknown } = this;
    const share = this.#times[ALARM_SHARE] ?? Number.POSITIVE_INFINITY;
    const looksAttacked = unknown >= share * this.queries || unknown >= Atomics.load(this.#words, ATTACK_AT);
    if (looksAttacked && !this.attacked(nowMs)) this.setAttackedUntil(nowMs + SUSPECT_MS);
  }

  get byRate(): boolean {
    return (Atomics.load(this.#words, FLAGS) & BY_RATE) !== 0;
  }

  setByRate(byRate: boolean): void {
    this.#setFlag(BY_RATE, byRate);
  }

  /** Whether the zone's names are still to come: that one is unknown says nothing here until then. */
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

  /** Counts a query that was refused, or would have been were the rule enabled. */
  countRefusal(isRefused: boolean, isKnown: boolean): void {
    Atomics.add(this.#words, isRefused ? REFUSED : WOULD_REFUSE, 1);
    if (isKnown) Atomics.add(this.#words, KNOWN_REFUSED, 1);
  }

  /** What was refused since the last call. */
  takeRefusals(): Refusals {
    return {
      refused: Atomics.exchange(this.#words, REFUSED, 0),
      wouldRefuse: Atomics.exchange(this.#words, WOULD_REFUSE, 0),
      known: Atomics.exchange(this.#words, KNOWN_REFUSED, 0),
      beyondUsual: Atomics.exchange(this.#words, BEYOND_USUAL, 0),
    };
  }

  /** Names that were counted as unknown before the zone's names were known. */
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
