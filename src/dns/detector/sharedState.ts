/**
 * Memory that all threads share to decide queries (queryPolicy.ts): one profile, one token bucket, and one set of
 * counters. The detector writes names and settings. Every thread that receives queries reads them and counts.
 */
import { ACCESS_LISTS_BYTES } from './clients/accessLists.ts';
import { HEAVY_CLIENTS_BYTES } from './clients/heavyClients.ts';
import { KNOWN_CLIENTS_BYTES } from './clients/knownClients.ts';
import { DECISION_SAMPLES_BYTES } from './decisionSamples.ts';
import { NameTable } from './profile/nameTable.ts';
import { RECENT_NAMES_BYTES } from './recentNames.ts';
import { BUCKET_BYTES, TokenBucket } from './tokenBucket.ts';
import { VERDICTS } from './verdict.ts';
import { ZONE_BYTES } from './zones/sharedZone.ts';
import { MAX_ZONES, ZONE_INDEX_BYTES } from './zones/zoneIndex.ts';

/** Buffers of shared memory, in the form in which they are passed to other threads. */
export interface SharedState {
  readonly maxNames: number;
  readonly names: SharedArrayBuffer;
  readonly zoneIndex: SharedArrayBuffer;
  /** Counters and flags of zones, by zone number. Zone 0 stands for names outside every known zone. */
  readonly zones: SharedArrayBuffer;
  readonly recent: SharedArrayBuffer;
  /** Token buckets of the account ({@link PolicyFlags}). */
  readonly buckets: SharedArrayBuffer;
  readonly flags: SharedArrayBuffer;
  readonly verdicts: SharedArrayBuffer;
  readonly heavyClients: SharedArrayBuffer;
  readonly knownClients: SharedArrayBuffer;
  readonly accessLists: SharedArrayBuffer;
  readonly decisions: SharedArrayBuffer;
}

export const newSharedState = (maxNames: number): SharedState => ({
  maxNames,
  names: new SharedArrayBuffer(NameTable.bytesFor(maxNames)),
  zoneIndex: new SharedArrayBuffer(ZONE_INDEX_BYTES),
  zones: new SharedArrayBuffer((MAX_ZONES + 1) * ZONE_BYTES),
  recent: new SharedArrayBuffer(RECENT_NAMES_BYTES),
  buckets: new SharedArrayBuffer(3 * BUCKET_BYTES),
  flags: new SharedArrayBuffer(FLAGS * 4),
  verdicts: new SharedArrayBuffer(VERDICTS * 4),
  heavyClients: new SharedArrayBuffer(HEAVY_CLIENTS_BYTES),
  knownClients: new SharedArrayBuffer(KNOWN_CLIENTS_BYTES),
  accessLists: new SharedArrayBuffer(ACCESS_LISTS_BYTES),
  decisions: new SharedArrayBuffer(DECISION_SAMPLES_BYTES),
});

const FLAGS = 4;
const MAY_DROP = 0;
const TRUNCATE = 1;
const CLIENT_LIMIT = 2;
const UNHEALTHY = 3;
/** Largest value of a signed 32-bit word. */
const MAX_CLIENT_LIMIT = 0x7fffffff;

/** Settings for deciding queries, which the detector writes. A change applies immediately in all threads. */
export class PolicyFlags {
  /** Token bucket for queries for unknown names in zones under attack. */
  readonly bucket: TokenBucket;
  /** Token bucket for queries for unknown names in other zones, so that a flood does not use up their tokens. */
  readonly calmBucket: TokenBucket;
  /** Token bucket that limits all zones that are judged by query rate together. */
  readonly ceiling: TokenBucket;
  readonly #words: Int32Array;

  constructor(memory: SharedState) {
    this.#words = new Int32Array(memory.flags);
    this.bucket = new TokenBucket(memory.buckets, 0);
    this.calmBucket = new TokenBucket(memory.buckets, BUCKET_BYTES);
    this.ceiling = new TokenBucket(memory.buckets, 2 * BUCKET_BYTES);
  }

  /**
   * When queries that get no token may be dropped or truncated:
   * - `never`: the guard has not learned enough.
   * - `underAttack`: only in zones under attack or above their rate limit, because the account has no threshold yet.
   * - `always`: the account's threshold is learned or configured.
   */
  get mayDrop(): 'never' | 'underAttack' | 'always' {
    const word = Atomics.load(this.#words, MAY_DROP);
    return word === 2 ? 'always' : word === 1 ? 'underAttack' : 'never';
  }

  set mayDrop(when: 'never' | 'underAttack' | 'always') {
    Atomics.store(this.#words, MAY_DROP, ['never', 'underAttack', 'always'].indexOf(when));
  }

  get limitAction(): 'drop' | 'truncate' {
    return Atomics.load(this.#words, TRUNCATE) === 0 ? 'drop' : 'truncate';
  }

  set limitAction(what: 'drop' | 'truncate') {
    Atomics.store(this.#words, TRUNCATE, what === 'drop' ? 0 : 1);
  }

  /** Whether the DNS servers behind the guard answer in time. */
  get upstreamsHealthy(): boolean {
    return Atomics.load(this.#words, UNHEALTHY) === 0;
  }

  set upstreamsHealthy(isHealthy: boolean) {
    Atomics.store(this.#words, UNHEALTHY, isHealthy ? 0 : 1);
  }

  /** Maximum number of UDP queries per client in a window of five seconds. 0 means no limit. */
  get clientLimit(): number {
    return Atomics.load(this.#words, CLIENT_LIMIT);
  }

  set clientLimit(queries: number) {
    Atomics.store(this.#words, CLIENT_LIMIT, Math.min(MAX_CLIENT_LIMIT, queries));
  }
}
