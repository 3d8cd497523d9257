/**
 * Client networks (IPv4 /24, IPv6 /56) that query known names. Memory is bounded: a keyed hash of the network selects
 * a set of eight slots. A network is known if its first and last query are at least an hour apart. A full set
 * evicts the network whose last query is oldest, but no known network with a query within a day. The detector's
 * thread writes, all threads read.
 */
import type { HashKey } from '../../protocol/index.ts';
import type { Threshold } from '../limits/thresholds.ts';
import { BUCKET_BYTES, TokenBucket } from '../tokenBucket.ts';
import { mix } from './mix.ts';

const BYTES_PER_WORD = 4;
const SETS = 8192;
const WAYS = 8;
/** Words of a slot: tag (hash) of a network, and the minutes of the network's first and last query, modulo 65,536. */
const TAG = 0;
const SEEN = WAYS;
const WORDS_PER_SET = 2 * WAYS;
/**
 * The slots are followed by the minute in which the first network was recorded (0 if none), and by the token bucket
 * that all new networks share.
 */
const SINCE = SETS * WORDS_PER_SET;
const BUCKET = (SINCE + 2) * BYTES_PER_WORD;
/** Size of the shared memory: 512 KiB for 65,536 networks. */
export const KNOWN_CLIENTS_BYTES = BUCKET + BUCKET_BYTES;

const MINUTE_MS = 60_000;
const MINUTE_BITS = 16;
const MINUTE_MASK = (1 << MINUTE_BITS) - 1;
/** A network is known if its first and last query are at least this many minutes apart. */
const KNOWN_AFTER_MINUTES = 60;
/** A known network with a query within this many minutes is never evicted. */
const PROTECTED_MINUTES = 24 * 60;
/** Networks without a query for this many minutes are deleted. */
const KEPT_MINUTES = 7 * 24 * 60;
/**
 * After an unusual number of queries from new networks, no new network is recorded for this time, so that the forged
 * addresses of a flood do not become known.
 */
const LEARNING_PAUSE_MS = 60_000;

/** Client networks in the form in which they are stored across restarts. Minutes are counted since 1970. */
export interface StoredClients {
  readonly sinceMinute: number;
  readonly savedMinute: number;
  /** Base64 of pairs of little-endian 32-bit words: tag (hash), and minutes of the first and last query. */
  readonly places: string;
}

export class KnownClients {
  readonly #words: Int32Array;
  readonly #key: HashKey;
  /** Token bucket that limits the queries of all new clients together. */
  readonly #bucket: TokenBucket;
  /**
   * Token bucket for queries from new clients, sized for their usual rate. Only this thread uses it. This bucket
   * detects a flood even if `#bucket` limits nothing.
   */
  readonly #usual = new TokenBucket(new SharedArrayBuffer(BUCKET_BYTES), 0);
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #sweptSet = 0;

  constructor(memory: SharedArrayBuffer, key: HashKey) {
    this.#words = new Int32Array(memory);
    this.#key = key;
    this.#bucket = new TokenBucket(memory, BUCKET);
  }

  /**
   * Returns true if a network (hash) is not known yet. Always false in the first hour, in which no network can become
   * known.
   */
  isNew(network: number, nowMs: number): boolean {
    const minute = minuteOf(nowMs);
    const since = this.#words[SINCE] ?? 0;
    if (since === 0 || minute - since < KNOWN_AFTER_MINUTES) return false;
    const at = this.#find(this.#tagOf(network));
    return at < 0 || !isKnown(this.#seenAt(at), minute);
  }

  /** Whether the first and last query of a network (hash) for known names are at least an hour apart. */
  isKnown(network: number, nowMs: number): boolean {
    const at = this.#find(this.#tagOf(network));
    return at >= 0 && isKnown(this.#seenAt(at), minuteOf(nowMs));
  }

  size(nowMs: number): number {
    let known = 0;
    for (let set = 0; set < SINCE; set += WORDS_PER_SET)
      for (let at = set; at < set + WAYS; at++)
        if (this.#words[at + TAG] !== 0 && isKnown(this.#seenAt(at), minuteOf(nowMs))) known++;
    return known;
  }

  /**
   * Returns whether a query from this network (hash) may pass. The query of a new network takes a token from the
   * bucket that all new networks share, and may not pass if the bucket is empty.
   */
  admits(network: number, nowMs: number): boolean {
    return !this.isNew(network, nowMs) || this.#bucket.take(nowMs);
  }

  /**
   * Sets the limit for the queries of all new clients (`allowed`), and the rate of these queries above which no new
   * client is recorded (`usual`).
   */
  resize(allowed: Threshold, usual: Threshold, nowMs: number): void {
    this.#bucket.resize(allowed.ratePerSecond, allowed.burst, nowMs);
    this.#usual.resize(usual.ratePerSecond, usual.burst, nowMs);
  }

  /** Records that a client's query for a known name was answered. `network`: hash of the client's network. */
  note(network: number, nowMs: number): void {
    const words = this.#words;
    const minute = minuteOf(nowMs);
    const tag = this.#tagOf(network);
    const at = this.#find(tag);
    const isOld = at >= 0 && isKnown(this.#seenAt(at), minute);
    if (!isOld && !this.#mayLearn(nowMs)) return;
    if (at < 0) this.#add(tag, minute);
    else words[at + SEEN] = seen(firstSeen(this.#seenAt(at), minute), minute);
  }

  /** Deletes networks without a query for KEPT_MINUTES. Examines one set of slots per call. Call every second. */
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

  /** Restores stored networks that sent a query within KEPT_MINUTES. They must be stored under the same hash key. */
  restore({ sinceMinute, places, savedMinute }: StoredClients, nowMs: number): void {
    const words = this.#words;
    const minute = minuteOf(nowMs);
    // Ignore old state: minutes are stored modulo 65,536 (45 days), so its times would be ambiguous.
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

  /**
   * Counts a query from a network that is not known yet. Returns false if all such networks together exceed their
   * usual rate or the limit for new clients, and for LEARNING_PAUSE_MS after that.
   */
  #mayLearn(nowMs: number): boolean {
    if (!this.#usual.take(nowMs) || this.#bucket.level(nowMs) < 1)
      this.#quietUntilMs = nowMs + LEARNING_PAUSE_MS;
    // End the pause if the clock was set back.
    return nowMs >= this.#quietUntilMs || this.#quietUntilMs > nowMs + LEARNING_PAUSE_MS;
  }

  #add(tag: number, minute: number): void {
    const words = this.#words;
    const set = setOf(tag);
    let place = -1;
    let oldest = -1;
    for (let at = set; at < set + WAYS; at++) {
      const word = this.#seenAt(at);
      const age = words[at + TAG] === 0 ? MINUTE_MASK : ageOf(word, minute);
      if (age <= oldest || (age <= PROTECTED_MINUTES && isKnown(word, minute))) continue;
      oldest = age;
      place = at;
    }
    if (place < 0) return;
    // Clear the tag first and write it last, so that no thread reads a network with the minutes of another network.
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

  /** Returns a keyed hash that identifies the network within its set. Never 0, because 0 marks a free slot. */
  #tagOf(network: number): number {
    return mix(mix(this.#key.high, network), this.#key.low) || 1;
  }
}

const setOf = (tag: number): number => ((tag >>> 8) & (SETS - 1)) * WORDS_PER_SET;
const minuteOf = (nowMs: number): number => Math.floor(nowMs / MINUTE_MS);
const seen = (first: number, last: number): number => (first << MINUTE_BITS) | (last & MINUTE_MASK);
/** Number of minutes between a network's first and last query. */
const spanOf = (word: number): number => (word - (word >>> MINUTE_BITS)) & MINUTE_MASK;
/** Minute of a network's first query, or KEPT_MINUTES ago if that is later. A longer span would overflow 16 bits. */
const firstSeen = (word: number, minute: number): number =>
  spanOf(word) > KEPT_MINUTES ? (minute - KEPT_MINUTES) & MINUTE_MASK : word >>> MINUTE_BITS;
/** Number of minutes since a network's last query. 0 if the clock was set back. */
const ageOf = (word: number, minute: number): number =>
  Math.max(0, ((minute - word) << MINUTE_BITS) >> MINUTE_BITS);
const isKnown = (word: number, minute: number): boolean =>
  spanOf(word) >= KNOWN_AFTER_MINUTES && ageOf(word, minute) <= KEPT_MINUTES;
