/**
 * Response rate limiting (as BIND, NSD and Knot know it): how often one network of clients gets the same answer. Counted in two
 * rows of counters under hashes that nobody outside knows, in a memory of fixed size that all threads share: two answers that meet
 * in both rows are limited together, which costs the second no more than a way over TCP.
 */
import {
  expandName,
  type HashKey,
  networkHash,
  QueryType,
  type Question,
  questionOfWire,
  questionSuffix,
  rcodeOf,
  readUint16,
  skipName,
} from '../../protocol/index.ts';

export interface ResponseRateLimitOptions {
  /** Equal answers to one network in a second. */
  readonly perSecond: number;
  /** Of so many above the limit one is sent as TC=1; 0 for none. */
  readonly slip: number;
}

/** Answers above the limit, by what became of them. */
export interface LimitedAnswers {
  readonly truncated: number;
  readonly dropped: number;
}

/** What becomes of an answer. */
export type Limited = 'sent' | 'truncated' | 'dropped';

/** 1 MB in all. */
const COUNTERS = 131_072;
const ROWS = 2;
/** A counter is one word: the second that it counts, and how many there were. */
const COUNT_BITS = 20;
const COUNT_MASK = (1 << COUNT_BITS) - 1;
const SECOND_MASK = 0xfff;
const RCODE_NXDOMAIN = 3;
const POINTER = 0xc0;

export const newRateCounters = (): SharedArrayBuffer => new SharedArrayBuffer(ROWS * COUNTERS * 4);

export class ResponseRateLimit {
  readonly limited = { truncated: 0, dropped: 0 };
  readonly #options: ResponseRateLimitOptions;
  readonly #key: HashKey;
  readonly #counters: Int32Array;

  constructor(
    options: ResponseRateLimitOptions,
    { key, counters }: { key: HashKey; counters: SharedArrayBuffer },
  ) {
    this.#options = options;
    this.#key = key;
    this.#counters = new Int32Array(counters);
  }

  /** Counts an answer to the question that was read from it, and says whether it may be sent. */
  // biome-ignore lint/complexity/useMaxParams: called for each answer: no object is made
  note(answer: Uint8Array, question: Question, client: string, nowMs: number): Limited {
    const count = this.#count(networkHash(client), identityOf(answer, question, this.#key), nowMs);
    const { perSecond, slip } = this.#options;
    if (count <= perSecond) return 'sent';
    const outcome = slip > 0 && (count - perSecond) % slip === 0 ? 'truncated' : 'dropped';
    this.limited[outcome]++;
    return outcome;
  }

  #count(network: number, identity: number, nowMs: number): number {
    const second = Math.floor(nowMs / 1000) & SECOND_MASK;
    const one = mix(network ^ this.#key.high, identity ^ this.#key.low);
    const other = mix(identity ^ this.#key.high, network ^ this.#key.low);
    return Math.min(this.#add(one % COUNTERS, second), this.#add(COUNTERS + (other % COUNTERS), second));
  }

  /** Two threads may both begin a second: one of their answers is not counted. */
  #add(place: number, second: number): number {
    const before = Atomics.load(this.#counters, place);
    const count = before >>> COUNT_BITS === second ? (before & COUNT_MASK) + 1 : 1;
    if (count > COUNT_MASK) return COUNT_MASK;
    if (count === 1) Atomics.store(this.#counters, place, (second << COUNT_BITS) | 1);
    else Atomics.add(this.#counters, place, 1);
    return count;
  }
}

/**
 * What makes answers equal: the name and type that were asked for; of names that do not exist, and of types that a name does not
 * have, the zone; of a delegation, where it leads; of errors, the code.
 */
function identityOf(answer: Uint8Array, question: Question, key: HashKey): number {
  const rcode = rcodeOf(answer);
  if (rcode !== 0 && rcode !== RCODE_NXDOMAIN) return rcode;
  if (readUint16(answer, 6) > 0) return mix(question.hashHigh ^ question.hashLow, question.type << 8);
  if (readUint16(answer, 8) === 0) return rcode;
  const owner = ownerHash(answer, question, key);
  const end = skipName(answer, question.end);
  const type = end === 0 ? 0 : readUint16(answer, end);
  return mix(owner, (type === QueryType.SOA ? QueryType.SOA : QueryType.NS) << 8);
}

/** The hash of the owner of the first record behind the question: nearly always a pointer into the name that was asked for. */
function ownerHash(answer: Uint8Array, question: Question, key: HashKey): number {
  const at = question.end;
  if ((answer[at] ?? 0) >= POINTER) {
    const offset = readUint16(answer, at) & 0x3fff;
    for (let label = 0; label < question.labels; label++) {
      if (question.offsets[label] !== offset) continue;
      const [high, low] = questionSuffix(question, question.labels - label);
      return mix(high, low);
    }
  }
  const name = expandName(answer, at);
  if (name === undefined) return 0;
  const owner = questionOfWire(name, 0, key);
  if (owner.labels === 0) return 0;
  const [high, low] = questionSuffix(owner, owner.labels);
  return mix(high, low);
}

/** Both spread over 32 bits (the finalizer of MurmurHash3). */
function mix(one: number, other: number): number {
  let value = Math.imul(one, 0x9e3779b1) ^ other;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
