/**
 * Finds the clients with the most queries in bounded memory: Space-Saving (Metwally, Agrawal, El Abbadi, 2005) in
 * sets of eight counters. A keyed hash selects a client's set. If a set has counted N queries in a window of five
 * seconds, every client of the set with more than N/8 queries has a counter. A new client takes over the smallest
 * counter, but only its own queries since then count against its limit. If two threads write one counter at the same
 * time, a query may not be counted.
 */
import type { HashKey } from '../../protocol/index.ts';
import type { ClientAddress } from './clientAddress.ts';
import { mix } from './mix.ts';

/** Length of the window in which queries are counted: long enough for genuine bursts, short enough for floods. */
export const CLIENT_WINDOW_MS = 5000;
const MS_PER_SECOND = 1000;
/** Maximum number of queries per client and window: the number of tokens that the account's bucket gains in it. */
export const clientLimit = (ratePerSecond: number): number =>
  Math.ceil((ratePerSecond * CLIENT_WINDOW_MS) / MS_PER_SECOND);

const SETS = 1024;
const WAYS = 8;
/** Words of a counter: tag (hash) of the client, window number, client's queries, count of the previous client. */
const TAG = 0;
const WINDOW = WAYS;
const OWN = 2 * WAYS;
const TAKEN_OVER = 3 * WAYS;
const WORDS_PER_SET = 4 * WAYS;
/** Words after the sets: number of the current window, and number of queries of all clients in this window. */
const NOW = SETS * WORDS_PER_SET;
const TOTAL = NOW + 1;
const WORDS = NOW + 2;
/** Size of the shared memory: 128 KiB for 8,192 clients. */
export const HEAVY_CLIENTS_BYTES = WORDS * 4;
const MOST = 0x7fffffff;

export class HeavyClients {
  readonly #words: Int32Array;
  readonly #key: HashKey;

  constructor(memory: SharedArrayBuffer, key: HashKey) {
    this.#words = new Int32Array(memory);
    this.#key = key;
  }

  /**
   * Counts a query from any client. Returns true once all clients together have exceeded `limit` in this window.
   * Before that, no single client can have exceeded `limit`, so that no address need be parsed.
   */
  countAny(limit: number, nowMs: number): boolean {
    const words = this.#words;
    const window = windowOf(nowMs);
    if (words[NOW] !== window) {
      words[NOW] = window;
      words[TOTAL] = 0;
    }
    return Atomics.add(words, TOTAL, 1) >= limit;
  }

  /**
   * Counts a query of a client: an IPv4 address or an IPv6 /64 network. Returns a lower bound of the number of this
   * client's queries in the current window.
   */
  count(client: ClientAddress, nowMs: number): number {
    const words = this.#words;
    const first = client.words[0] ?? 0;
    const second = client.isIpv6 ? (client.words[1] ?? 0) : 1;
    const tag = this.tagOf(client);
    const set = (mix(mix(this.#key.low, second), first) & (SETS - 1)) * WORDS_PER_SET;
    const window = windowOf(nowMs);
    for (let at = set; at < set + WAYS; at++)
      if (words[at + TAG] === tag && words[at + WINDOW] === window)
        return Atomics.add(words, at + OWN, 1) + 1;
    this.#takeOver(set, tag, window);
    return 1;
  }

  /** Returns a keyed hash that identifies the client within its set. Never 0. */
  tagOf({ isIpv6, words: address }: ClientAddress): number {
    const second = isIpv6 ? (address[1] ?? 0) : 1;
    return mix(mix(this.#key.high, address[0] ?? 0), second) | 1;
  }

  /** Assigns the smallest counter of a set to a client. A counter of an earlier window is free. */
  #takeOver(set: number, tag: number, window: number): void {
    const words = this.#words;
    let smallest = set;
    let least = MOST;
    for (let at = set; at < set + WAYS; at++) {
      const isCurrent = words[at + WINDOW] === window;
      const count = isCurrent ? (words[at + OWN] ?? 0) + (words[at + TAKEN_OVER] ?? 0) : 0;
      if (count >= least) continue;
      least = count;
      smallest = at;
      if (!isCurrent) break;
    }
    words[smallest + OWN] = 1;
    words[smallest + TAKEN_OVER] = least;
    words[smallest + TAG] = tag;
    words[smallest + WINDOW] = window;
  }
}

const windowOf = (nowMs: number): number => Math.floor(nowMs / CLIENT_WINDOW_MS) | 0;
