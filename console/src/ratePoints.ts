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

/** Returns one point per second. A query is counted by the mode that the rule had when the query arrived. */
export function pointsOfRates(rates: Schemas['GuardRates']): Point[] {
  const first = Math.floor(Date.parse(rates.until) / 1000) - rates.passed.length;
  return rates.passed.map((passed, i): Point => {
    const of = (series: readonly number[]) => series[i] ?? 0;
    const truncated = of(rates.truncated);
    return {
      at: first + i,
      rates: {
        ...{ passed: passed + of(rates.paid), truncated, dropped: of(rates.limited) - truncated },
        ...usersOf(of(rates.known_asked), of(rates.known_answered), of(rates.known_limited)),
        wouldDrop: of(rates.would_drop),
        bucket: of(rates.bucket_per_second) || null,
      },
      ...{ attack: of(rates.attack) === 1, mode: of(rates.mode) },
    };
  });
}

/** Returns one point per minute. */
export function pointsOfMinutes(minutes: Schemas['GuardMinuteRates']): Point[] {
  const first = Date.parse(minutes.since) / 1000;
  return minutes.passed.map((passed, i): Point => {
    const of = (series: readonly (number | null)[]) => series[i] ?? 0;
    const rates = {
      ...{ passed: passed ?? 0, truncated: of(minutes.truncated), dropped: of(minutes.dropped) },
      ...usersOf(of(minutes.known_asked), of(minutes.known_answered), of(minutes.known_limited)),
      wouldDrop: of(minutes.would_drop),
      bucket: of(minutes.bucket_per_second) || null,
    };
    return {
      at: first + i * 60,
      rates: passed === null ? undefined : rates,
      ...{ attack: of(minutes.attack) === 1, mode: of(minutes.mode) },
    };
  });
}

const usersOf = (asked: number, answered: number, usersLimited: number) => ({
  ...{ answered, usersLimited, unanswered: Math.max(0, asked - answered - usersLimited) },
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

/** Returns a mark for each change of the mode of the rule in force. */
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
