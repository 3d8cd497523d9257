/** What the guard would have done under other sensitivities with the queries that were recorded, by its own buckets and limits. */
import type { Rule } from '../../rules/index.ts';
import type { AttackDetector } from './attackDetector.ts';
import { CLIENT_WINDOW_MS, clientLimit } from './clients/heavyClients.ts';
import {
  type DecisionSample,
  isKnownIn,
  isNewClientIn,
  type RecordedDecisions,
  reasonIn,
  zoneIn,
} from './decisionSamples.ts';
import { reserveOf } from './payment.ts';
import { RECENT_NAMES_BYTES, RecentNames } from './recentNames.ts';
import { profileLevel } from './sensitivity.ts';
import type { Threshold } from './thresholds.ts';
import { BUCKET_BYTES, TokenBucket } from './tokenBucket.ts';
import type { Reason } from './verdict.ts';

/** What of a rule decisions hang on. */
export type Sensitivities = Pick<Rule, 'profile_sensitivity' | 'rate_sensitivity' | 'burst_sensitivity'>;

/** Queries, of which each that was recorded stands for some. */
export interface DecidedAgain {
  /** Had to pay. */
  readonly paying: number;
  /** Found no token. */
  readonly refused: number;
  /** Of these, those for names that the guard knew. */
  readonly knownRefused: number;
  /** Did not have to pay, and were above the limit of one client, or of the new ones together. */
  readonly clientLimited: number;
}

/** Tries sensitivities on what was recorded. */
export class DecideAgain {
  readonly #detector: AttackDetector;
  readonly #recorded: RecordedDecisions;
  readonly #recent = new RecentNames(new SharedArrayBuffer(RECENT_NAMES_BYTES));

  constructor(detector: AttackDetector, recorded: RecordedDecisions) {
    this.#detector = detector;
    this.#recorded = recorded;
  }

  /** As if a rule with these sensitivities had been enabled, with full buckets at first, and the guard had been ready to drop. */
  under(sensitivities: Sensitivities): DecidedAgain {
    const { samples, sinceMs } = this.#recorded;
    this.#recent.clear();
    const level = profileLevel[sensitivities.profile_sensitivity];
    const size = this.#detector.bucketSize(sensitivities);
    const purse = new Purse(this.#detector, { sensitivities, size, sinceMs, recent: this.#recent });
    const clients = new ClientLimit(level > profileLevel.low ? size.ratePerSecond : undefined);
    const newClients = fullBucket(size, sinceMs);
    const counted = { paying: 0, refused: 0, knownRefused: 0, clientLimited: 0 };
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
      const refused = sample.weight - purse.pay(sample, reason);
      counted.paying += sample.weight;
      counted.refused += refused;
      if (isKnownIn(sample)) counted.knownRefused += refused;
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

/** The bucket of the account, and those of zones that are judged by rate. */
class Purse {
  readonly #detector: AttackDetector;
  readonly #options: PurseOptions;
  readonly #bucket: TokenBucket;
  readonly #ofZones = new Map<number, TokenBucket>();

  constructor(detector: AttackDetector, options: PurseOptions) {
    this.#detector = detector;
    this.#options = options;
    this.#bucket = fullBucket(options.size, options.sinceMs);
  }

  /** How many of the queries that a sample stands for found a token. */
  pay(sample: DecisionSample, reason: Reason): number {
    const { hashHigh, hashLow, timeMs, weight } = sample;
    if (reason === 'zoneRate') return this.#bucketOf(zoneIn(sample)).takeUpTo(weight, timeMs);
    const again = reason !== 'unknownName' || this.#options.recent.note(hashHigh, hashLow);
    return this.#bucket.takeUpTo(weight, timeMs, reserveOf(again, this.#bucket.burst));
  }

  #bucketOf(zone: number): TokenBucket {
    const { sensitivities, sinceMs } = this.#options;
    let bucket = this.#ofZones.get(zone);
    if (bucket === undefined) {
      const { zones } = this.#detector;
      bucket = fullBucket(this.#detector.zoneBucketSize(zones.byNumber(zone), sensitivities), sinceMs);
      this.#ofZones.set(zone, bucket);
    }
    return bucket;
  }
}

function fullBucket({ ratePerSecond, burst }: Threshold, nowMs: number): TokenBucket {
  const bucket = new TokenBucket(new SharedArrayBuffer(BUCKET_BYTES), 0);
  bucket.resize(ratePerSecond, burst, nowMs);
  return bucket;
}

/** What each client had in a window, counted as `HeavyClients` does: from where all together are above the limit. */
class ClientLimit {
  readonly #limit: number;
  readonly #counts = new Map<number, number>();
  #total = 0;
  #window = -1;

  /** Undefined where clients are not limited. */
  constructor(ratePerSecond: number | undefined) {
    this.#limit = ratePerSecond === undefined ? Number.POSITIVE_INFINITY : clientLimit(ratePerSecond);
  }

  /** Counts a query, and how many of those that it stands for are above the limit. */
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
