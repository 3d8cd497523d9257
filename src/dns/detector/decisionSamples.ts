/**
 * Records samples of decided queries, so that other sensitivities can be tried on them. A record contains why the
 * query would need a token at each profile sensitivity, and what token buckets and client limits depend on. At high
 * rates, only a query at random intervals is recorded. The weight of a record is the number of queries since the
 * previous record. All threads write into one ring buffer.
 */
import { type Reason, reasons } from './verdict.ts';

/** Target number of records per thread and second. The first second of a flood may yield several times as many. */
const PER_SECOND = 256;
/** Number of records in the ring buffer: as many as four busy threads write in a minute. Must be a power of two. */
const SLOTS = 65_536;
const TIME_MS = 0;
/**
 * Bit field: why the query needs a token at each profile sensitivity, whether the name is known, whether the client
 * is new, whether the zone is under attack, and the zone number.
 */
const FACTS = 1;
const HASH_HIGH = 2;
const HASH_LOW = 3;
const CLIENT = 4;
const WEIGHT = 5;
const WORDS_PER_SLOT = 6;
/** Index of the word after the records. It contains the number of records written since the start, modulo 2^32. */
const RECORDED = SLOTS * WORDS_PER_SLOT;
/** Size of the shared memory in bytes (1.5 MiB). */
export const DECISION_SAMPLES_BYTES = (RECORDED + 1) * 4;

const REASON_BITS = 3;
const PROFILE_LEVELS = 4;
const KNOWN = 1 << (REASON_BITS * PROFILE_LEVELS);
const NEW_CLIENT = KNOWN << 1;
const ATTACKED = NEW_CLIENT << 1;
const ZONE_SHIFT = REASON_BITS * PROFILE_LEVELS + 3;
const SECOND_MS = 1000;
/** Maximum difference between the clocks of two threads. */
const MAX_CLOCK_DIFFERENCE_MS = 1000;

export interface Decided {
  /** Bit field made by {@link packFacts}. */
  readonly facts: number;
  readonly hashHigh: number;
  readonly hashLow: number;
  /** Keyed hash of the client address; 0 if unknown. */
  readonly client: number;
}

export interface QueryFacts {
  readonly isKnown: boolean;
  readonly isNewClient: boolean;
  /** Whether the zone is under attack. */
  readonly isAttacked: boolean;
  /** Zone number. */
  readonly zone: number;
}

/** Packs a decision into a bit field. `reasonAt` returns why the query needs a token at a profile sensitivity. */
export function packFacts(
  reasonAt: (level: number) => Reason,
  { isKnown, isNewClient, isAttacked, zone }: QueryFacts,
): number {
  const flags = (isKnown ? KNOWN : 0) | (isNewClient ? NEW_CLIENT : 0) | (isAttacked ? ATTACKED : 0);
  let facts = flags | (zone << ZONE_SHIFT);
  for (let level = 0; level < PROFILE_LEVELS; level++)
    facts |= reasons.indexOf(reasonAt(level)) << (level * REASON_BITS);
  return facts;
}

/** Returns why the query would have needed a rate-limit token at a profile sensitivity, or `none`. */
export const reasonIn = ({ facts }: Decided, level: number): Reason =>
  reasons[(facts >>> (level * REASON_BITS)) & ((1 << REASON_BITS) - 1)] ?? 'none';
export const isKnownIn = ({ facts }: Decided): boolean => (facts & KNOWN) !== 0;
export const isNewClientIn = ({ facts }: Decided): boolean => (facts & NEW_CLIENT) !== 0;
export const isAttackedIn = ({ facts }: Decided): boolean => (facts & ATTACKED) !== 0;
export const zoneIn = ({ facts }: Decided): number => facts >>> ZONE_SHIFT;

export interface DecisionSample extends Decided {
  readonly timeMs: number;
  /** Number of queries that the sample represents. */
  readonly weight: number;
}

export interface RecordedDecisions {
  /** Samples of queries, in the order in which the queries were decided. */
  readonly samples: readonly DecisionSample[];
  /** Time since which the samples are complete. Earlier samples were overwritten, or were not requested. */
  readonly sinceMs: number;
}

/** Records samples of the queries that one thread has decided. All threads write to the same memory. */
export class DecisionSamples {
  readonly #words: Int32Array;
  readonly #random: () => number;
  /** Number of queries from the previous record to the next record. */
  #gap = 1;
  /** Number of queries until the next record. */
  #left = 1;
  /** Mean number of queries per record. It doubles after every PER_SECOND records within a second. */
  #stride = 1;
  #secondEndsMs = 0;
  #inSecond = 0;
  #recordedInSecond = 0;

  /** `random` returns a number in [0, 1). */
  constructor(memory: SharedArrayBuffer, random: () => number = Math.random) {
    this.#words = new Int32Array(memory);
    this.#random = random;
  }

  /** Counts a query. Returns true if this query must be recorded by {@link record}. */
  shouldRecord(nowMs: number): boolean {
    return --this.#left <= 0 || nowMs >= this.#secondEndsMs;
  }

  /** Records the query counted last, weighted with the number of queries since the previous record. */
  record({ facts, hashHigh, hashLow, client }: Decided, nowMs: number): void {
    const words = this.#words;
    const weight = this.#gap - this.#left;
    const at = (Atomics.add(words, RECORDED, 1) & (SLOTS - 1)) * WORDS_PER_SLOT;
    words[at + TIME_MS] = nowMs | 0;
    words[at + FACTS] = facts;
    words[at + HASH_HIGH] = hashHigh;
    words[at + HASH_LOW] = hashLow;
    words[at + CLIENT] = client;
    words[at + WEIGHT] = weight;
    this.#adjustStride(weight, nowMs);
    this.#gap = this.#stride === 1 ? 1 : 1 + Math.floor(this.#random() * (2 * this.#stride - 1));
    this.#left = this.#gap;
  }

  /** Sets the number of queries per record so that a second as busy as the previous one yields PER_SECOND records. */
  #adjustStride(weight: number, nowMs: number): void {
    if (nowMs >= this.#secondEndsMs || nowMs < this.#secondEndsMs - SECOND_MS) {
      const follows = nowMs < this.#secondEndsMs + SECOND_MS;
      this.#stride = follows ? Math.max(1, Math.ceil(this.#inSecond / PER_SECOND)) : 1;
      this.#secondEndsMs = (Math.floor(nowMs / SECOND_MS) + 1) * SECOND_MS;
      this.#inSecond = 0;
      this.#recordedInSecond = 0;
    }
    this.#inSecond += weight;
    if (++this.#recordedInSecond % PER_SECOND === 0) this.#stride *= 2;
  }

  read(nowMs: number, spanMs: number): RecordedDecisions {
    const words = this.#words;
    const recorded = Atomics.load(words, RECORDED);
    const samples: DecisionSample[] = [];
    let sinceMs = nowMs - spanMs;
    for (let i = 0; i < SLOTS; i++) {
      const at = ((recorded + i) & (SLOTS - 1)) * WORDS_PER_SLOT;
      const weight = words[at + WEIGHT] ?? 0;
      if (weight === 0) continue;
      const ageMs = ((nowMs | 0) - (words[at + TIME_MS] ?? 0)) | 0;
      if (ageMs > spanMs || ageMs < -MAX_CLOCK_DIFFERENCE_MS) continue;
      // If the oldest record of a full ring buffer is within the span, earlier records of the span were overwritten.
      if (i === 0) sinceMs = nowMs - ageMs;
      samples.push(sampleAt(words, at, nowMs - ageMs));
    }
    return { samples, sinceMs };
  }
}

function sampleAt(words: Int32Array, at: number, timeMs: number): DecisionSample {
  return {
    timeMs,
    facts: words[at + FACTS] ?? 0,
    hashHigh: (words[at + HASH_HIGH] ?? 0) >>> 0,
    hashLow: (words[at + HASH_LOW] ?? 0) >>> 0,
    client: words[at + CLIENT] ?? 0,
    weight: words[at + WEIGHT] ?? 0,
  };
}
