/**
 * Which clients ask for most, in bounded memory: Space-Saving (Metwally, Agrawal and El Abbadi, 2005) in sets of eight
 * counters, each client in the set that its keyed hash says. In a window of five seconds a set with N queries has every client
 * in it that asked more than N/8 times. A client that finds no counter takes over the smallest one of its set; it is judged only by
 * what was counted since, never by the count that it took over: nobody is heavy for the queries of others. All in shared memory: two threads
 * that count in one place at once may lose each other's query, and nothing else.
 */
import type { HashKey } from '../../protocol/index.ts';
import type { ClientAddress } from './clientAddress.ts';
import { mix } from './mix.ts';

/** Long enough that a burst of honest queries is no flood, short enough that a flood is cut soon. */
export const CLIENT_WINDOW_MS = 5000;
const MS_PER_SECOND = 1000;
/** Queries of one client that may pass in a window, where so many tokens come in a second. */
export const clientLimit = (ratePerSecond: number): number =>
  Math.ceil((ratePerSecond * CLIENT_WINDOW_MS) / MS_PER_SECOND);

const SETS = 1024;
const WAYS = 8;
/** Of each counter: whose it is, its window, the queries that are certainly that client's, and those it took over. */
const TAG = 0;
const WINDOW = WAYS;
const OWN = 2 * WAYS;
const TAKEN_OVER = 3 * WAYS;
const WORDS_PER_SET = 4 * WAYS;
/** Behind the sets: which window it is, and how many queries all clients together had in it. */
const NOW = SETS * WORDS_PER_SET;
const TOTAL = NOW + 1;
const WORDS = NOW + 2;
/** 128 KiB, for 8,192 clients. */
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
   * Counts a query of anybody. True when there were more than so many in this window: until then nobody alone can have
   * had more, and there is no need to look who asks.
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

  /** Counts a query of this client. Returns how many it certainly had in this window. An IPv6 client is a /64. */
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

  /** What a client is known by; never 0. */
  tagOf({ isIpv6, words: address }: ClientAddress): number {
    const second = isIpv6 ? (address[1] ?? 0) : 1;
    return mix(mix(this.#key.high, address[0] ?? 0), second) | 1;
  }

  /** Gives the client the smallest counter of its set; one of an earlier window is free. */
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
