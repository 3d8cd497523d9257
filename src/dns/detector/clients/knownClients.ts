/**
 * Networks of clients (/24 of IPv4, /56 of IPv6) that asked for known names long before now, in bounded memory: sets of eight, each
 * network in the set that its keyed hash says. Who has been here for an hour, and was today, gives way to nobody; of the others
 * the one that was seen longest ago gives way. The detector writes it, all threads read it.
 */
import type { HashKey } from '../../protocol/index.ts';
import type { Threshold } from '../thresholds.ts';
import { BUCKET_BYTES, TokenBucket } from '../tokenBucket.ts';
import { mix } from './mix.ts';

const BYTES_PER_WORD = 4;
const SETS = 8192;
const WAYS = 8;
/** Of each place: a tag of the network, and the minutes in which it was seen first and last, modulo 65,536. */
const TAG = 0;
const SEEN = WAYS;
const WORDS_PER_SET = 2 * WAYS;
/** Behind the sets: in which minute the first network was noted, 0 for not yet, and the bucket of those that are new. */
const SINCE = SETS * WORDS_PER_SET;
const BUCKET = (SINCE + 2) * BYTES_PER_WORD;
/** 512 KiB, for 65,536 networks. */
export const KNOWN_CLIENTS_BYTES = BUCKET + BUCKET_BYTES;

const MINUTE_MS = 60_000;
const MINUTE_BITS = 16;
const MINUTE_MASK = (1 << MINUTE_BITS) - 1;
/** Asking for so long makes known. */
const KNOWN_AFTER_MINUTES = 60;
/** A network that is known and was seen so lately gives way to nobody. */
const HELD_MINUTES = 24 * 60;
/** Who was not seen for so long is forgotten. */
const KEPT_MINUTES = 7 * 24 * 60;
/** After more new ones than are usual none is noted for so long: a flood teaches nothing. */
const QUIET_MS = 60_000;

/** What is kept over a restart. */
export interface StoredClients {
  readonly sinceMinute: number;
  readonly savedMinute: number;
  /** Tags and minutes, in pairs of 32-bit words (little-endian), as base64. */
  readonly places: string;
}

export class KnownClients {
  readonly #words: Int32Array;
  readonly #key: HashKey;
  /** What new clients may ask together. */
  readonly #bucket: TokenBucket;
  /** The same while nobody takes from that one, of this thread alone: what is more is a flood. */
  readonly #usual = new TokenBucket(new SharedArrayBuffer(BUCKET_BYTES), 0);
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #sweptSet = 0;

  constructor(memory: SharedArrayBuffer, key: HashKey) {
    this.#words = new Int32Array(memory);
    this.#key = key;
    this.#bucket = new TokenBucket(memory, BUCKET);
  }

  /** Whether a network, by its hash, is none of those that have asked for long. Nobody is new before there can be any of those. */
  isNew(network: number, nowMs: number): boolean {
    const minute = minuteOf(nowMs);
    const since = this.#words[SINCE] ?? 0;
    if (since === 0 || minute - since < KNOWN_AFTER_MINUTES) return false;
    const at = this.#find(this.#tagOf(network));
    return at < 0 || !isKnown(this.#seenAt(at), minute);
  }

  /** How many networks are known. */
  size(nowMs: number): number {
    let known = 0;
    for (let set = 0; set < SINCE; set += WORDS_PER_SET)
      for (let at = set; at < set + WAYS; at++)
        if (this.#words[at + TAG] !== 0 && isKnown(this.#seenAt(at), minuteOf(nowMs))) known++;
    return known;
  }

  /** Counts a query of a network. False where it is new, and new ones ask more together than they may. */
  admits(network: number, nowMs: number): boolean {
    return !this.isNew(network, nowMs) || this.#bucket.take(nowMs);
  }

  /** What new clients may ask together, and what of theirs is usual and teaches. */
  resize(allowed: Threshold, usual: Threshold, nowMs: number): void {
    this.#bucket.resize(allowed.ratePerSecond, allowed.burst, nowMs);
    this.#usual.resize(usual.ratePerSecond, usual.burst, nowMs);
  }

  /** Notes that a network, by its hash, was answered. */
  note(network: number, nowMs: number): void {
    const words = this.#words;
    const minute = minuteOf(nowMs);
    const tag = this.#tagOf(network);
    const at = this.#find(tag);
    const isOld = at >= 0 && isKnown(this.#seenAt(at), minute);
    if (!isOld && !this.#teaches(nowMs)) return;
    if (at < 0) this.#add(tag, minute);
    else words[at + SEEN] = seen(firstSeen(this.#seenAt(at), minute), minute);
  }

  /** Forgets whom nobody has seen for days. Call it every second. */
  sweep(nowMs: number): void {
    const set = this.#sweptSet * WORDS_PER_SET;
    this.#sweptSet = (this.#sweptSet + 1) % SETS;
    for (let at = set; at < set + WAYS; at++)
      if (ageOf(this.#seenAt(at), minuteOf(nowMs)) > KEPT_MINUTES) this.#words[at + TAG] = 0;
  }

  stored(nowMs: number): StoredClients {
    const words = this.#words;
    const bytes = Buffer.alloc(SINCE * BYTES_PER_WORD);
    let length = 0;
    for (let set = 0; set < SINCE; set += WORDS_PER_SET)
      for (let at = set; at < set + WAYS; at++) {
        if (words[at + TAG] === 0) continue;
        length = bytes.writeInt32LE(words[at + TAG] ?? 0, length);
        length = bytes.writeInt32LE(this.#seenAt(at), length);
      }
    return {
      sinceMinute: words[SINCE] ?? 0,
      savedMinute: minuteOf(nowMs),
      places: bytes.toString('base64', 0, length),
    };
  }

  /** Puts back what was stored under the same key, but for whom nobody has seen for days. */
  restore({ sinceMinute, places, savedMinute }: StoredClients, nowMs: number): void {
    const words = this.#words;
    const minute = minuteOf(nowMs);
    // Minutes are kept modulo 45 days.
    if (minute - savedMinute > KEPT_MINUTES) return;
    words[SINCE] = sinceMinute;
    const bytes = Buffer.from(places, 'base64');
    for (let i = 0; i + 2 * BYTES_PER_WORD <= bytes.length; i += 2 * BYTES_PER_WORD) {
      const tag = bytes.readInt32LE(i);
      const place = bytes.readInt32LE(i + BYTES_PER_WORD);
      const free = this.#find(0, setOf(tag));
      if (free < 0 || ageOf(place, minute) > KEPT_MINUTES) continue;
      words[free + SEEN] = place;
      words[free + TAG] = tag;
    }
  }

  /** Counts a query of a network that is not known. False while there are more of them than usual, and for a while after. */
  #teaches(nowMs: number): boolean {
    if (!this.#usual.take(nowMs) || this.#bucket.level(nowMs) < 1) this.#quietUntilMs = nowMs + QUIET_MS;
    // A clock that was set back keeps nobody waiting.
    return nowMs >= this.#quietUntilMs || this.#quietUntilMs > nowMs + QUIET_MS;
  }

  #add(tag: number, minute: number): void {
    const words = this.#words;
    const set = setOf(tag);
    let place = -1;
    let oldest = -1;
    for (let at = set; at < set + WAYS; at++) {
      const word = this.#seenAt(at);
      const age = words[at + TAG] === 0 ? MINUTE_MASK : ageOf(word, minute);
      if (age <= oldest || (age <= HELD_MINUTES && isKnown(word, minute))) continue;
      oldest = age;
      place = at;
    }
    if (place < 0) return;
    // In this order: another thread finds nobody, or one that is new.
    words[place + TAG] = 0;
    words[place + SEEN] = seen(minute & MINUTE_MASK, minute);
    words[place + TAG] = tag;
    words[SINCE] ||= minute;
  }

  #find(tag: number, set = setOf(tag)): number {
    const words = this.#words;
    for (let at = set; at < set + WAYS; at++) if (words[at + TAG] === tag) return at;
    return -1;
  }

  #seenAt(at: number): number {
    return this.#words[at + SEEN] ?? 0;
  }

  /** Never 0, which marks a free place. */
  #tagOf(network: number): number {
    return mix(mix(this.#key.high, network), this.#key.low) || 1;
  }
}

const setOf = (tag: number): number => ((tag >>> 8) & (SETS - 1)) * WORDS_PER_SET;
const minuteOf = (nowMs: number): number => Math.floor(nowMs / MINUTE_MS);
const seen = (first: number, last: number): number => (first << MINUTE_BITS) | (last & MINUTE_MASK);
/** From the first to the last time that it was seen. */
const spanOf = (word: number): number => (word - (word >>> MINUTE_BITS)) & MINUTE_MASK;
/** Who has been here for long enough need not be told from who has been here for longer, which no place has the bits for. */
const firstSeen = (word: number, minute: number): number =>
  spanOf(word) > KEPT_MINUTES ? (minute - KEPT_MINUTES) & MINUTE_MASK : word >>> MINUTE_BITS;
/** Minutes since it was seen last; none where the clock was set back. */
const ageOf = (word: number, minute: number): number =>
  Math.max(0, ((minute - word) << MINUTE_BITS) >> MINUTE_BITS);
const isKnown = (word: number, minute: number): boolean =>
  spanOf(word) >= KNOWN_AFTER_MINUTES && ageOf(word, minute) <= KEPT_MINUTES;
