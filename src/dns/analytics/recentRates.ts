/** Query rates of the last ten minutes, one value per second, for graphs and for the what-if calculation. */
import {
  type AttackDetector,
  type Outcome,
  outcomeOf,
  type Reason,
  reasonOf,
  VERDICTS,
  type Verdict,
} from '../detector/index.ts';
import { NO_USERS, usersSince } from './userCounts.ts';

export const KEPT_SECONDS = 600;
const MS_PER_SECOND = 1000;

/**
 * Names of the time series. Their values are queries per second, except in the last three series:
 * - `allowed`: queries that an access list allowed; included in `passed`.
 * - `truncated`: included in `limited`.
 * - `paying`: queries that needed a rate-limit token.
 * - `paying_known`: queries for known names that needed a rate-limit token.
 * - `known_asked`: queries for known names, counted when they end; `known_answered` and `known_limited` are parts of it.
 * - `bucket_per_second`: rate of the token bucket.
 * - `attack`: 1 during an attack, otherwise 0.
 * - `mode`: index in {@link MODES} of the mode of the rule in force.
 */
const MEMBERS = [
  'passed',
  'allowed',
  'paid',
  'limited',
  'truncated',
  'would_drop',
  'paying',
  'paying_known',
  'known_asked',
  'known_answered',
  'known_limited',
  'bucket_per_second',
  'attack',
  'mode',
] as const;
/** Modes of a rule in the series `mode`; `none` without a rule. */
export const MODES: readonly string[] = ['none', 'disabled', 'monitoring', 'enabled'];
type Member = (typeof MEMBERS)[number];

/** Time series of equal length. Their first value belongs to the oldest second. */
export type RateSeries = Readonly<Record<Member, readonly number[]>>;

export interface RecentSeconds {
  /** End of the last second of the series, as Unix time in seconds. */
  readonly endSecond: number;
  readonly series: RateSeries;
}

/** Reasons to need a token that apply only to known names. */
const KNOWN_NAME_REASONS = new Set(['unknownType', 'aboveUsual']);

const MEMBER_OF: Readonly<Record<Outcome, Member>> = {
  passed: 'passed',
  paid: 'paid',
  wouldDrop: 'would_drop',
  dropped: 'limited',
  truncated: 'limited',
};

/** Reasons of queries that take no rate-limit token, because an access list or a client limit decided. */
const REASONS_WITHOUT_PAYMENT: ReadonlySet<Reason> = new Set(['accessList', 'clientRate', 'newClient']);

/** Names of the series in which a query counts, indexed by the verdict on the query. */
const MEMBERS_OF: readonly (readonly Member[])[] = Array.from({ length: VERDICTS }, (_, number): Member[] => {
  const outcome = outcomeOf(number as Verdict); // each number below VERDICTS is a verdict
  const reason = reasonOf(number as Verdict);
  const pays = outcome !== 'passed' && !REASONS_WITHOUT_PAYMENT.has(reason);
  const isAllowed = outcome === 'passed' && reason === 'accessList';
  return [
    MEMBER_OF[outcome],
    ...(outcome === 'truncated' ? (['truncated'] as const) : []),
    ...(isAllowed ? (['allowed'] as const) : []),
    ...(pays ? (['paying'] as const) : []),
    ...(pays && KNOWN_NAME_REASONS.has(reason) ? (['paying_known'] as const) : []),
  ];
});

/** One ring buffer per time series, with one value per second: 67 KB in total. Call {@link sample} every second. */
export class RecentRates {
  readonly #detector: AttackDetector;
  readonly #verdicts: () => Float64Array;
  readonly #before = new Float64Array(VERDICTS);
  readonly #series = Object.fromEntries(
    MEMBERS.map((member) => [member, new Float64Array(KEPT_SECONDS)]),
  ) as Record<Member, Float64Array>; // keys: MEMBERS
  #users = NO_USERS;
  /** First second that the next {@link sample} writes. */
  #next: number;
  /** First second that was written since the start. */
  readonly #first: number;

  constructor(detector: AttackDetector, nowMs: number, verdicts: () => Float64Array) {
    this.#detector = detector;
    this.#verdicts = verdicts;
    this.#next = Math.floor(nowMs / MS_PER_SECOND);
    this.#first = this.#next;
  }

  /** Distributes the queries since the last call evenly over the complete seconds since then. */
  sample(nowMs: number): void {
    const end = Math.floor(nowMs / MS_PER_SECOND);
    // If the clock was set back, continue from the new time. The values in the ring buffers remain.
    if (end < this.#next - 1) this.#next = end - 1;
    const seconds = end - this.#next;
    if (seconds <= 0) return;
    const rates = this.#take(seconds);
    rates.bucket_per_second =
      this.#detector.rule === undefined ? 0 : this.#detector.bucketSize().ratePerSecond;
    rates.attack = this.#detector.attack ? 1 : 0;
    rates.mode = MODES.indexOf(this.#detector.rule?.mode ?? 'none');
    for (let second = Math.max(this.#next, end - KEPT_SECONDS); second < end; second++)
      for (const member of MEMBERS) this.#series[member][second % KEPT_SECONDS] = rates[member];
    this.#next = end;
  }

  seconds(): RecentSeconds {
    const from = Math.max(this.#first, this.#next - KEPT_SECONDS);
    const length = Math.max(0, this.#next - from);
    const series = Object.fromEntries(
      MEMBERS.map((member) => [
        member,
        Array.from({ length }, (_, i) => this.#series[member][(from + i) % KEPT_SECONDS] ?? 0),
      ]),
    ) as Record<Member, number[]>; // keys: MEMBERS
    return { endSecond: this.#next, series };
  }

  #take(seconds: number): Record<Member, number> {
    const rates = Object.fromEntries(MEMBERS.map((member) => [member, 0])) as Record<Member, number>; // keys: MEMBERS
    const counted = this.#verdicts();
    for (let verdict = 0; verdict < VERDICTS; verdict++) {
      const now = counted[verdict] ?? 0;
      const more = now - (this.#before[verdict] ?? 0);
      this.#before[verdict] = now;
      if (more > 0) for (const member of MEMBERS_OF[verdict] ?? []) rates[member] += more / seconds;
    }
    const users = { ...this.#detector.userQueries };
    const { answered, limited, unanswered } = usersSince(this.#users, users);
    rates.known_asked = (answered + limited + unanswered) / seconds;
    rates.known_answered = answered / seconds;
    rates.known_limited = limited / seconds;
    this.#users = users;
    return rates;
  }
}
