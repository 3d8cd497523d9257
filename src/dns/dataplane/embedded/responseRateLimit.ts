/**
 * Response rate limiting as in BIND, NSD and Knot: limits the rate of equal answers to one client network. All
 * threads share two rows of counters. For an answer, a keyed hash selects one counter in each row, and the lower
 * value is used. Different answers with the same two counters share a limit, so a few clients may have to retry over
 * TCP.
 */
import {
  expandName,
  type HashKey,
  networkHash,
  QueryType,
  type Question,
  questionOfWire,
  rcodeOf,
  readUint16,
  skipName,
  suffixHash,
} from '../../protocol/index.ts';

export interface ResponseRateLimitOptions {
  /** Maximum number of equal answers to one client network per second. */
  readonly perSecond: number;
}

/** Number of counters per row. The two rows use 1 MB. */
const COUNTERS = 131_072;
const ROWS = 2;
/** A counter is a 32-bit word. Upper 12 bits: a second. Lower 20 bits: number of answers in that second. */
const COUNT_BITS = 20;
const COUNT_MASK = (1 << COUNT_BITS) - 1;
const SECOND_MASK = 0xfff;
const RCODE_NXDOMAIN = 3;
const POINTER = 0xc0;

export const newRateCounters = (): SharedArrayBuffer => new SharedArrayBuffer(ROWS * COUNTERS * 4);

export class ResponseRateLimit {
  limited = 0;
  readonly #perSecond: number;
  readonly #key: HashKey;
  readonly #counters: Int32Array;

  constructor(
    { perSecond }: ResponseRateLimitOptions,
    { key, counters }: { key: HashKey; counters: SharedArrayBuffer },
  ) {
    this.#perSecond = perSecond;
    this.#key = key;
    this.#counters = new Int32Array(counters);
  }

  /** Counts an answer. Returns true if the answer is above the limit and must be sent truncated (TC=1). */
  // biome-ignore lint/complexity/useMaxParams: called for each answer; an options object would be allocated
  note(answer: Uint8Array, question: Question, client: string, nowMs: number): boolean {
    const count = this.#count(networkHash(client), identityOf(answer, question, this.#key), nowMs);
    if (count <= this.#perSecond) return false;
    this.limited++;
    return true;
  }

  #count(network: number, identity: number, nowMs: number): number {
    const second = Math.floor(nowMs / 1000) & SECOND_MASK;
    const one = mix(network ^ this.#key.high, identity ^ this.#key.low);
    const other = mix(identity ^ this.#key.high, network ^ this.#key.low);
    return Math.min(this.#add(one % COUNTERS, second), this.#add(COUNTERS + (other % COUNTERS), second));
  }

  /**
   * Increments a counter and returns its value. If two threads reset a counter for a new second at the same time, one
   * of the two answers is not counted.
   */
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
 * Returns a number that is the same for equal answers. For a positive answer it depends on name and type, for
 * NXDOMAIN and NODATA on the zone, for a referral on the delegation point, and for an error on the response code.
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

/** Hashes the owner of the first record after the question, usually a compression pointer into the question. */
function ownerHash(answer: Uint8Array, question: Question, key: HashKey): number {
  const at = question.end;
  if ((answer[at] ?? 0) >= POINTER) {
    const offset = readUint16(answer, at) & 0x3fff;
    for (let label = 0; label < question.labels; label++) {
      if (question.offsets[label] !== offset) continue;
      const [high, low] = suffixHash(question, question.labels - label);
      return mix(high, low);
    }
  }
  const name = expandName(answer, at);
  if (name === undefined) return 0;
  const owner = questionOfWire(name, 0, key);
  if (owner.labels === 0) return 0;
  const [high, low] = suffixHash(owner, owner.labels);
  return mix(high, low);
}

/** Mixes two words into one (MurmurHash3 finalizer). */
function mix(one: number, other: number): number {
  let value = Math.imul(one, 0x9e3779b1) ^ other;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
