/**
 * Replays recorded queries to compute what a rule with other sensitivities would have done with them. Token buckets
 * and client limits are computed from the guard's current thresholds.
 */
import type { Rule } from '../../rules/index.ts';
import type { AttackDetector } from './attackDetector.ts';
import { CLIENT_WINDOW_MS, clientLimit } from './clients/heavyClients.ts';
import {
  type DecisionSample,
  isAttackedIn,
  isKnownIn,
  isNewClientIn,
  type RecordedDecisions,
  reasonIn,
  zoneIn,
} from './decisionSamples.ts';
import { reserveOf } from './limits/payment.ts';
import { profileLevel } from './limits/sensitivity.ts';
import type { Threshold } from './limits/thresholds.ts';
import { RECENT_NAMES_BYTES, RecentNames } from './recentNames.ts';
import { BUCKET_BYTES, TokenBucket } from './tokenBucket.ts';
import type { Reason } from './verdict.ts';

export type Sensitivities = Pick<Rule, 'profile_sensitivity' | 'rate_sensitivity' | 'burst_sensitivity'>;

/** Result of a replay: numbers of queries, extrapolated from the recorded samples. */
export interface ReplayResult {
  /** Queries that needed a rate-limit token. */
  readonly paying: number;
  /** Queries that needed a rate-limit token but got none. */
  readonly limited: number;
  /** Queries for known names among `limited`. */
  readonly knownLimited: number;
  /** Queries that needed no rate-limit token but exceeded the limit of one client or of all new clients. */
  readonly clientLimited: number;
}

/** Computes what a rule would have done with recorded queries. */
export class PolicyReplay {
  readonly #detector: AttackDetector;
  readonly #recorded: RecordedDecisions;
  readonly #recent = new RecentNames(new SharedArrayBuffer(RECENT_NAMES_BYTES));

  constructor(detector: AttackDetector, recorded: RecordedDecisions) {
    this.#detector = detector;
    this.#recorded = recorded;
  }

  /**
   * Returns how many of the recorded queries an enabled rule with these sensitivities would have limited. Assumes
   * that the token buckets are full at the start, and that the guard may drop queries.
   */
  replay(sensitivities: Sensitivities): ReplayResult {
    const { samples, sinceMs } = this.#recorded;
    this.#recent.clear();
    const level = profileLevel[sensitivities.profile_sensitivity];
    const size = this.#detector.bucketSize(sensitivities);
    const purse = new ReplayBuckets(this.#detector, { sensitivities, size, sinceMs, recent: this.#recent });
    const clients = new ClientLimit(level > profileLevel.low ? size.ratePerSecond : undefined);
    const newClients = fullBucket(size, sinceMs);
    const counted = { paying: 0, limited: 0, knownLimited: 0, clientLimited: 0 };
    for (const sample of samples) {
      const reason = reasonIn(sample, level);
      if (reason === 'none') {
        const above = clients.above(sample);
        const within = sample.weight - above;
        const isLimited = level >= profileLevel.very_high && isNewClientIn(sample);
        counted.clientLimited +=
          above + (isLimited ? within - newClients.takeUpTo(within, sample.timeMs) : 0);
        continue;
      }
      const limited = sample.weight - purse.pay(sample, reason);
      counted.paying += sample.weight;
      counted.limited += limited;
      if (isKnownIn(sample)) counted.knownLimited += limited;
    }
    return counted;
  }
}

interface PurseOptions {
  readonly sensitivities: Sensitivities;
  readonly size: Threshold;
  readonly sinceMs: number;
  readonly recent: RecentNames;
}

/** Token buckets of a replay: two for the account, and two for each zone that is judged by query rate, not names. */
class ReplayBuckets {
  readonly #detector: AttackDetector;
  readonly #options: PurseOptions;
  readonly #attacked: TokenBucket;
  readonly #calm: TokenBucket;
  readonly #ofZones = new Map<number, { readonly unknown: TokenBucket; readonly learned: TokenBucket }>();

  constructor(detector: AttackDetector, options: PurseOptions) {
    this.#detector = detector;
    this.#options = options;
    this.#attacked = fullBucket(options.size, options.sinceMs);
    this.#calm = fullBucket(detector.calmBucketSize(options.sensitivities), options.sinceMs);
  }

  /** Takes tokens for the queries that a sample represents. Returns the number of these queries that got a token. */
  pay(sample: DecisionSample, reason: Reason): number {
    const { hashHigh, hashLow, timeMs, weight } = sample;
    if (reason === 'zoneRate') {
      if (this.#detector.zones.byNumber(zoneIn(sample)).awaitsRate) return weight;
      return this.#bucketOf(zoneIn(sample), isKnownIn(sample)).takeUpTo(weight, timeMs);
    }
    const again = reason !== 'unknownName' || this.#options.recent.note(hashHigh, hashLow);
    const bucket = isAttackedIn(sample) ? this.#attacked : this.#calm;
    return bucket.takeUpTo(weight, timeMs, reserveOf(again, bucket.burst));
  }

  #bucketOf(zone: number, isKnown: boolean): TokenBucket {
    const { sensitivities, sinceMs } = this.#options;
    let buckets = this.#ofZones.get(zone);
    if (buckets === undefined) {
      const sizes = this.#detector.zoneBucketSizes(this.#detector.zones.byNumber(zone), sensitivities);
      buckets = { unknown: fullBucket(sizes.unknown, sinceMs), learned: fullBucket(sizes.learned, sinceMs) };
      this.#ofZones.set(zone, buckets);
    }
    return isKnown ? buckets.learned : buckets.unknown;
  }
}

function fullBucket({ ratePerSecond, burst }: Threshold, nowMs: number): TokenBucket {
  const bucket = new TokenBucket(new SharedArrayBuffer(BUCKET_BYTES), 0);
  bucket.resize(ratePerSecond, burst, nowMs);
  return bucket;
}

/**
 * Counts each client's queries in a window, like `HeavyClients`: only from the query on with which all clients
 * together exceed the limit for one client.
 */
class ClientLimit {
  readonly #limit: number;
  readonly #counts = new Map<number, number>();
  #total = 0;
  #window = -1;

  /** `ratePerSecond`: rate of the account's token bucket. If undefined, clients are not limited. */
  constructor(ratePerSecond: number | undefined) {
    this.#limit = ratePerSecond === undefined ? Number.POSITIVE_INFINITY : clientLimit(ratePerSecond);
  }

  /** Counts the queries that a sample represents. Returns how many of these queries exceed the client's limit. */
  above({ client, timeMs, weight }: DecisionSample): number {
    if (client === 0 || this.#limit === Number.POSITIVE_INFINITY) return 0;
    const window = Math.floor(timeMs / CLIENT_WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#counts.clear();
      this.#total = 0;
    }
    this.#total += weight;
    const counted = Math.min(weight, this.#total - this.#limit);
    if (counted <= 0) return 0;
    const count = (this.#counts.get(client) ?? 0) + counted;
    this.#counts.set(client, count);
    return Math.min(counted, Math.max(0, count - this.#limit));
  }
}
