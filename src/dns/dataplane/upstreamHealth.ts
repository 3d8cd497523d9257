/**
 * Decides every second whether the DNS servers are healthy, from their response times for known names, from probes
 * and from their states. docs/reference/dns-protection.md explains all numbers.
 */
import type { Log } from '../../platform/logging/index.ts';
import { type ResponseTimes, TIME_COUNTERS, TimeCounts } from './responseTimes.ts';

/** Number of queries from which the answered share and the response time are computed. */
const MIN_QUERIES = 20;
/** Number of seconds that are combined if a single one has too few queries. */
const MAX_SECONDS = 10;
const MIN_ANSWERED_SHARE = 0.98;
const PERCENTILE = 0.9;
/** The percentile of the response time may be this multiple of the usual median, within the following bounds. */
const MEDIAN_FACTOR = 4;
const MIN_LIMIT_MS = 50;
const MAX_LIMIT_MS = 250;
/** Time without a problem after which the servers are healthy again. */
const RECOVERY_MS = 30_000;
/** Factor per second that halves the weight of a response time in two days, so that the median is that of a week. */
const DECAY_PER_SECOND = 0.5 ** (1 / (2 * 86_400));
/** Number of seconds with enough answers after which the median is used. Before that, the limit is its maximum. */
const MIN_MEDIAN_SECONDS = 60;

interface Problem {
  readonly reason: 'no server in use' | 'probe unanswered' | 'no data' | 'too few answers' | 'slow answers';
  readonly answeredShare?: number;
  /** Undefined if no query was answered. */
  readonly p90Ms?: number | undefined;
  readonly limitMs?: number;
}

export class UpstreamHealth {
  readonly #times: ResponseTimes;
  readonly #log: Log;
  readonly #usual = new UsualTimes();
  /** Counts of the last seconds. `#newest` is the index of the last one. */
  readonly #seconds = Array.from({ length: MAX_SECONDS }, () => new TimeCounts());
  readonly #combined = new TimeCounts();
  #newest = 0;
  #isHealthy = true;
  #problemMs = 0;

  constructor(times: ResponseTimes, log: Log) {
    this.#times = times;
    this.#log = log;
  }

  /**
   * Returns whether the servers are healthy. Call every second. `hasServer`: whether a server is in use, according to
   * probes. Undefined if this is unknown.
   */
  update(nowMs: number, hasServer: boolean | undefined): boolean {
    this.#newest = (this.#newest + 1) % MAX_SECONDS;
    const second = this.#seconds[this.#newest] as TimeCounts; // index below MAX_SECONDS
    this.#times.takeTo(second);
    const problem = this.#problem(second, hasServer);
    this.#usual.add(second);
    if (problem !== undefined) this.#noteProblem(problem, nowMs);
    // After a step of the clock back, the time since the problem must not be negative.
    this.#problemMs = Math.min(this.#problemMs, nowMs);
    if (!this.#isHealthy && nowMs - this.#problemMs >= RECOVERY_MS) {
      this.#isHealthy = true;
      this.#log.info({}, 'DNS servers healthy again');
    }
    return this.#isHealthy;
  }

  #noteProblem(problem: Problem, nowMs: number): void {
    this.#problemMs = nowMs;
    if (!this.#isHealthy) return;
    this.#isHealthy = false;
    this.#log.warn(problem, 'DNS servers unhealthy or overloaded');
  }

  #problem({ failedProbes }: TimeCounts, hasServer: boolean | undefined): Problem | undefined {
    if (hasServer === false) return { reason: 'no server in use' };
    if (failedProbes > 0) return { reason: 'probe unanswered' };
    const { times, answered, queries, lagMs } = this.#combine();
    if (queries < MIN_QUERIES) return hasServer === undefined ? { reason: 'no data' } : undefined;
    const answeredShare = answered / queries;
    const p90Ms = answered === 0 ? undefined : quantile(times, answered * PERCENTILE);
    // If a thread was blocked, it read answers late by up to that time.
    const limitMs = this.#usual.limitMs + lagMs;
    if (answeredShare >= MIN_ANSWERED_SHARE && (p90Ms ?? 0) <= limitMs) return undefined;
    const reason = answeredShare < MIN_ANSWERED_SHARE ? 'too few answers' : 'slow answers';
    return { reason, answeredShare: Math.round(answeredShare * 1000) / 1000, p90Ms, limitMs };
  }

  /** Combines the last seconds until there are enough queries. */
  #combine(): TimeCounts {
    const combined = this.#combined;
    combined.clear();
    for (let back = 0; back < MAX_SECONDS; back++) {
      combined.add(this.#seconds[(this.#newest + MAX_SECONDS - back) % MAX_SECONDS] as TimeCounts);
      if (combined.queries >= MIN_QUERIES) break;
    }
    return combined;
  }
}

/** Response times of about a week. Old ones lose weight. In memory only: empty after a restart. */
class UsualTimes {
  readonly #weights = new Float64Array(TIME_COUNTERS);
  #total = 0;

  /**
   * Adds the response times of a second. Every second has the same weight, so that a flood of queries for known names
   * hardly changes the median. A second with fewer queries than MIN_QUERIES has less weight.
   */
  add(second: TimeCounts): void {
    const scale = 1 / Math.max(MIN_QUERIES, second.answered);
    this.#total = 0;
    for (let ms = 0; ms < TIME_COUNTERS; ms++) {
      const weight = (this.#weights[ms] ?? 0) * DECAY_PER_SECOND + (second.times[ms] ?? 0) * scale;
      this.#weights[ms] = weight;
      this.#total += weight;
    }
  }

  /** Highest normal response time: the limit of the 90th percentile. */
  get limitMs(): number {
    if (this.#total < MIN_MEDIAN_SECONDS) return MAX_LIMIT_MS;
    const median = quantile(this.#weights, this.#total / 2);
    return Math.min(MAX_LIMIT_MS, Math.max(MIN_LIMIT_MS, MEDIAN_FACTOR * median));
  }
}

/** Returns the shortest time in milliseconds that at least `count` response times do not exceed. */
function quantile(counts: Int32Array | Float64Array, count: number): number {
  let sum = 0;
  for (let ms = 0; ms < counts.length; ms++) {
    sum += counts[ms] ?? 0;
    if (sum >= count) return ms;
  }
  return counts.length - 1;
}
