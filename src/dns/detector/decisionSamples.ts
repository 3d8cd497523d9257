/**
 * Queries as they were decided about, so that other sensitivities can be tried on them: why each would have had to pay at every
 * profile sensitivity, and what the buckets and the limit of clients need besides. Each is recorded while there are few; of many,
 * one after a random number of them, with how many it stands for. A ring in shared memory, written by all threads.
 */
import { type Reason, reasons } from './verdict.ts';

/** Each thread records so many a second, and some more in the second in which a flood begins. */
const PER_SECOND = 256;
/** A minute of four busy threads. A power of two. */
const SLOTS = 65_536;
const TIME_MS = 0;
/** Why it pays at each profile sensitivity, whether its name is known, whether its client is new, and the number of its zone. */
const FACTS = 1;
const HASH_HIGH = 2;
const HASH_LOW = 3;
const CLIENT = 4;
const WEIGHT = 5;
const WORDS_PER_SLOT = 6;
/** Behind the slots: how many were ever recorded, modulo 2^32. */
const RECORDED = SLOTS * WORDS_PER_SLOT;
/** 1.5 MiB. */
export const DECISION_SAMPLES_BYTES = (RECORDED + 1) * 4;

const REASON_BITS = 3;
const PROFILE_LEVELS = 4;
const KNOWN = 1 << (REASON_BITS * PROFILE_LEVELS);
const NEW_CLIENT = KNOWN << 1;
const ZONE_SHIFT = REASON_BITS * PROFILE_LEVELS + 2;
const SECOND_MS = 1000;
/** Threads read the clock a little apart. */
const APART_MS = 1000;

/** What there is to record of a query. */
export interface Decided {
  /** As {@link factsOf} gives them. */
  readonly facts: number;
  readonly hashHigh: number;
  readonly hashLow: number;
  /** A tag of its client; 0 where that is not known. */
  readonly client: number;
}

/** `reasonAt` says why the query would have to pay at a profile sensitivity, by its number; `zone` is the number of its zone. */
export function factsOf(
  reasonAt: (level: number) => Reason,
  { isKnown, isNewClient, zone }: { isKnown: boolean; isNewClient: boolean; zone: number },
): number {
  let facts = (isKnown ? KNOWN : 0) | (isNewClient ? NEW_CLIENT : 0) | (zone << ZONE_SHIFT);
  for (let level = 0; level < PROFILE_LEVELS; level++)
    facts |= reasons.indexOf(reasonAt(level)) << (level * REASON_BITS);
  return facts;
}

/** Why it would have had to pay at a profile sensitivity. */
export const reasonIn = ({ facts }: Decided, level: number): Reason =>
  reasons[(facts >>> (level * REASON_BITS)) & ((1 << REASON_BITS) - 1)] ?? 'none';
export const isKnownIn = ({ facts }: Decided): boolean => (facts & KNOWN) !== 0;
export const isNewClientIn = ({ facts }: Decided): boolean => (facts & NEW_CLIENT) !== 0;
export const zoneIn = ({ facts }: Decided): number => facts >>> ZONE_SHIFT;

/** A query that was recorded. */
export interface DecisionSample extends Decided {
  readonly timeMs: number;
  /** How many queries it stands for. */
  readonly weight: number;
}

export interface RecordedDecisions {
  /** In the order in which they were decided about. */
  readonly samples: readonly DecisionSample[];
  /** From then on they are complete: earlier ones are overwritten, or were not asked for. */
  readonly sinceMs: number;
}

/** Of one thread: all write into the same memory. */
export class DecisionSamples {
  readonly #words: Int32Array;
  readonly #random: () => number;
  /** One is recorded after so many, of which so many are still to come. */
  #gap = 1;
  #left = 1;
  /** The mean gap; doubled each time that a second has more than it may have. */
  #stride = 1;
  #secondEndsMs = 0;
  #inSecond = 0;
  #recordedInSecond = 0;

  /** `random` gives numbers from 0 to below 1. */
  constructor(memory: SharedArrayBuffer, random: () => number = Math.random) {
    this.#words = new Int32Array(memory);
    this.#random = random;
  }

  /** Counts a query. True where it is to be recorded. */
  isNext(nowMs: number): boolean {
    return --this.#left <= 0 || nowMs >= this.#secondEndsMs;
  }

  /** Records the query that was counted last: it stands for all since the one before. */
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
    this.#choosePace(weight, nowMs);
    this.#gap = this.#stride === 1 ? 1 : 1 + Math.floor(this.#random() * (2 * this.#stride - 1));
    this.#left = this.#gap;
  }

  /** A second has as many as it may if it is as busy as the one before; where it is busier they grow fewer. */
  #choosePace(weight: number, nowMs: number): void {
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

  /** What was recorded in the time before. */
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
      if (ageMs > spanMs || ageMs < -APART_MS) continue;
      // Where the oldest that there is came within the time, others may have been overwritten.
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
