/** Converts query rates and counters of the guard to points of a graph. Does not use the DOM. */

/** Query rates in one second or minute, in queries/s. */
export interface Rates {
  /** Queries that passed, with or without a token. */
  readonly passed: number;
  readonly dropped: number;
  readonly truncated: number;
  /** Queries that passed because the rule only monitors. An enabled rule would have dropped or truncated them. */
  readonly wouldDrop: number;
  /** Queries of users (for known names) that servers answered. */
  readonly answered: number;
  /** Queries of users that the guard dropped or truncated. */
  readonly usersLimited: number;
  /** Queries of users that no server answered. */
  readonly unanswered: number;
  /** Rate of the token bucket, in tokens/s; null if no rule is in force. */
  readonly bucket: number | null;
}

export interface Point {
  /** Time in seconds since 1970. */
  readonly at: number;
  /** Undefined if the guard did not run. */
  readonly rates: Rates | undefined;
  readonly attack: boolean;
  /** Mode of the rule in force, as an index of {@link MODES}. */
  readonly mode: number;
}

const MODES = ['no rule', 'disabled', 'monitoring', 'enabled'] as const;

/** Series of equal length. A value is null if the guard did not run. */
type RateSeries = Omit<Schemas['GuardMinuteRates'], 'since'>;

/** Returns one point per second. A query is counted by the mode that the rule had when the query arrived. */
export function pointsOfRates(rates: Schemas['GuardRates']): Point[] {
  const first = Math.floor(Date.parse(rates.until) / 1000) - rates.passed.length;
  const of = (series: readonly number[], i: number) => series[i] ?? 0;
  const passed = rates.passed.map((count, i) => count + of(rates.paid, i));
  const dropped = rates.limited.map((count, i) => count - of(rates.truncated, i));
  return pointsOf({ ...rates, passed, dropped }, first, 1);
}

export const pointsOfMinutes = (minutes: Schemas['GuardMinuteRates']): Point[] =>
  pointsOf(minutes, Date.parse(minutes.since) / 1000, 60);

const pointsOf = (series: RateSeries, first: number, step: number): Point[] =>
  series.passed.map((passed, i): Point => {
    const of = (name: keyof RateSeries) => series[name][i] ?? 0;
    const rates = passed !== null && {
      passed,
      truncated: of('truncated'),
      dropped: of('dropped'),
      wouldDrop: of('would_drop'),
      ...usersOf(of('known_asked'), of('known_answered'), of('known_limited')),
      bucket: of('bucket_per_second') || null,
    };
    return { at: first + i * step, rates: rates || undefined, attack: of('attack') === 1, mode: of('mode') };
  });

const usersOf = (asked: number, answered: number, usersLimited: number) => ({
  answered,
  usersLimited,
  unanswered: Math.max(0, asked - answered - usersLimited),
});

export interface CounterSample {
  readonly at: string;
  readonly guard?: Pick<Schemas['GuardStatus'], 'since_start' | 'rule' | 'bucket' | 'attack'>;
}

/** Returns the mean rates between two live messages; undefined without a guard, or if no time passed between them. */
export function pointBetween(
  before: CounterSample | undefined,
  { at, guard }: CounterSample,
): Point | undefined {
  const atMs = Date.parse(at);
  const seconds = (atMs - Date.parse(before?.at ?? '')) / 1000;
  const last = before?.guard?.since_start;
  if (guard === undefined || last === undefined || !(seconds > 0)) return undefined;
  const { since_start: counts, rule } = guard;
  // After a restart of the guard, its counters start at zero and may be lower than before.
  const rate = (now: number, then: number) => Math.max(0, now - then) / seconds;
  const [known, knownBefore] = [counts.known_names, last.known_names];
  return {
    at: Math.floor(atMs / 1000),
    rates: {
      passed: rate(counts.passed + counts.paid, last.passed + last.paid),
      dropped: rate(counts.dropped, last.dropped),
      truncated: rate(counts.truncated, last.truncated),
      wouldDrop: rate(counts.would_drop, last.would_drop),
      ...usersOf(
        rate(known.asked, knownBefore.asked),
        rate(known.answered, knownBefore.answered),
        rate(known.limited, knownBefore.limited),
      ),
      bucket: rule === undefined ? null : guard.bucket.rate_per_second,
    },
    attack: guard.attack,
    mode: rule === undefined ? 0 : Math.max(0, MODES.indexOf(rule.mode as (typeof MODES)[number])),
  };
}

export const modeMarks = (points: readonly Point[]): { readonly at: number; readonly text: string }[] =>
  points.flatMap(({ at, mode }, i) => {
    const before = points[i - 1];
    return before === undefined || before.mode === mode ? [] : [{ at, text: MODES[mode] ?? '' }];
  });

/** Returns the share of users' queries that servers answered, from 0 to 1; undefined without queries. */
export function answeredShare(points: readonly Point[]): number | undefined {
  let [answered, asked] = [0, 0];
  for (const { rates } of points) {
    if (rates === undefined) continue;
    answered += rates.answered;
    asked += rates.answered + rates.usersLimited + rates.unanswered;
  }
  return asked === 0 ? undefined : answered / asked;
}

import type { Schemas } from './api/types.ts';
