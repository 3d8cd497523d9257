/** Queries a second in the last ten minutes, second by second: for graphs, and for what another sensitivity would have done. */
import {
  type AttackDetector,
  type Outcome,
  outcomeOf,
  type Reason,
  reasonOf,
  VERDICTS,
  type Verdict,
} from '../detector/index.ts';

export const KEPT_SECONDS = 600;
const MS_PER_SECOND = 1000;

/** What is kept of each second. `paying`: those that had to pay; `paying_known`: for names that the guard knows. */
const MEMBERS = [
  'passed',
  'paid',
  'refused',
  'would_refuse',
  'paying',
  'paying_known',
  'bucket_per_second',
  'attack',
] as const;
type Member = (typeof MEMBERS)[number];

/** Series of the same length, the oldest second first. */
export type RateSeries = Readonly<Record<Member, readonly number[]>>;

export interface RecentSeconds {
  /** When the last of them ended, in seconds since 1970. */
  readonly endSecond: number;
  readonly series: RateSeries;
}

/** Reasons that only a name has which the guard knows. */
const OF_KNOWN_NAMES = new Set(['unknownType', 'aboveUsual']);

const MEMBER_OF: Readonly<Record<Outcome, Member>> = {
  passed: 'passed',
  paid: 'paid',
  wouldDrop: 'would_refuse',
  dropped: 'refused',
  truncated: 'refused',
};

/** Whom a list refuses, or a limit of clients, could not have paid. */
const PAYS_NEVER: ReadonlySet<Reason> = new Set(['accessList', 'clientRate', 'newClient']);

/** Which members a query counts in, by its verdict. */
const MEMBERS_OF: readonly (readonly Member[])[] = Array.from({ length: VERDICTS }, (_, number): Member[] => {
  const outcome = outcomeOf(number as Verdict); // each number below VERDICTS is one
  const reason = reasonOf(number as Verdict);
  const pays = outcome !== 'passed' && !PAYS_NEVER.has(reason);
  return [
    MEMBER_OF[outcome],
    ...(pays ? (['paying'] as const) : []),
    ...(pays && OF_KNOWN_NAMES.has(reason) ? (['paying_known'] as const) : []),
  ];
});

/** Call {@link note} each second: 38 KB, and a few additions. */
export class RecentRates {
  readonly #detector: AttackDetector;
  readonly #verdicts: () => Float64Array;
  readonly #before = new Float64Array(VERDICTS);
  readonly #series = Object.fromEntries(
    MEMBERS.map((member) => [member, new Float64Array(KEPT_SECONDS)]),
  ) as Record<Member, Float64Array>; // its keys are the members
  /** The second that is noted next, and the first that was. */
  #next: number;
  readonly #first: number;

  constructor(detector: AttackDetector, nowMs: number, verdicts: () => Float64Array) {
    this.#detector = detector;
    this.#verdicts = verdicts;
    this.#next = Math.floor(nowMs / MS_PER_SECOND);
    this.#first = this.#next;
  }

  /** Spreads what was decided since the last call over the whole seconds since then; a part of a second waits for the next call. */
  note(nowMs: number): void {
    const end = Math.floor(nowMs / MS_PER_SECOND);
    // The clock was set back: go on from there, with what is in the ring.
    if (end < this.#next - 1) this.#next = end - 1;
    const seconds = end - this.#next;
    if (seconds <= 0) return;
    const rates = this.#take(seconds);
    rates.bucket_per_second =
      this.#detector.rule === undefined ? 0 : this.#detector.bucketSize().ratePerSecond;
    rates.attack = this.#detector.attack ? 1 : 0;
    for (let second = Math.max(this.#next, end - KEPT_SECONDS); second < end; second++)
      for (const member of MEMBERS) this.#series[member][second % KEPT_SECONDS] = rates[member];
    this.#next = end;
  }

  /** The seconds that were watched, 600 of them at most. */
  seconds(): RecentSeconds {
    const from = Math.max(this.#first, this.#next - KEPT_SECONDS);
    const length = Math.max(0, this.#next - from);
    const series = Object.fromEntries(
      MEMBERS.map((member) => [
        member,
        Array.from({ length }, (_, i) => this.#series[member][(from + i) % KEPT_SECONDS] ?? 0),
      ]),
    ) as Record<Member, number[]>; // its keys are the members
    return { endSecond: this.#next, series };
  }

  #take(seconds: number): Record<Member, number> {
    const rates = Object.fromEntries(MEMBERS.map((member) => [member, 0])) as Record<Member, number>; // its keys are the members
    const counted = this.#verdicts();
    for (let verdict = 0; verdict < VERDICTS; verdict++) {
      const now = counted[verdict] ?? 0;
      const more = now - (this.#before[verdict] ?? 0);
      this.#before[verdict] = now;
      if (more > 0) for (const member of MEMBERS_OF[verdict] ?? []) rates[member] += more / seconds;
    }
    return rates;
  }
}
