/** Converts query rates and counters of the guard to points of a graph. Does not use the DOM. */
import type { Schemas } from './api/types.ts';

/** One second of the graph of query rates. Rates are in queries/s unless stated otherwise. */
export interface Point {
  /** Time in seconds since 1970. */
  readonly at: number;
  readonly passed: number;
  /** Queries that passed because of an access list. They are included in `passed`. */
  readonly allowed: number;
  readonly paid: number;
  /** Queries that were dropped or truncated. */
  readonly limited: number;
  /** Queries that passed because the rule only monitors. An enabled rule would have dropped or truncated them. */
  readonly wouldDrop: number;
  /** Rate of the token bucket, in tokens/s; null if no rule is in force. */
  readonly bucket: number | null;
  readonly threshold: number | null;
  readonly attack: boolean;
}

/** Returns one point per second. A query is counted by the mode that the rule had when the query arrived. */
export function pointsOfRates(rates: Schemas['GuardRates'], threshold: number | null): Point[] {
  const { until, passed, allowed, paid, limited, would_drop, bucket_per_second, attack } = rates;
  const first = Math.floor(Date.parse(until) / 1000) - passed.length;
  return passed.map((rate, i): Point => {
    const bucket = bucket_per_second[i] ?? 0;
    return {
      at: first + i,
      passed: rate,
      allowed: allowed[i] ?? 0,
      paid: paid[i] ?? 0,
      limited: limited[i] ?? 0,
      wouldDrop: would_drop[i] ?? 0,
      bucket: bucket === 0 ? null : bucket,
      threshold,
      attack: attack[i] === 1,
    };
  });
}

export interface CounterSample {
  readonly at: string;
  readonly guard?: Pick<Schemas['GuardStatus'], 'since_start' | 'rule' | 'bucket' | 'threshold' | 'attack'>;
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
  const { since_start: counts } = guard;
  // After a restart of the guard, its counters start at zero and may be lower than before.
  const rate = (name: 'passed' | 'allowed' | 'paid' | 'would_drop' | 'dropped' | 'truncated') =>
    Math.max(0, counts[name] - last[name]) / seconds;
  return {
    at: Math.floor(atMs / 1000),
    passed: rate('passed'),
    allowed: rate('allowed'),
    paid: rate('paid'),
    limited: rate('dropped') + rate('truncated'),
    wouldDrop: rate('would_drop'),
    bucket: guard.rule === undefined ? null : guard.bucket.rate_per_second,
    threshold: guard.threshold.rate_per_second,
    attack: guard.attack,
  };
}
