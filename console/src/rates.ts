/** Queries a second in the last ten minutes: those that the server has, then a point of each message of the live stream. */
import { effect, signal } from '@preact/signals';
import { readRates } from './api/guard.ts';
import { connection, type LiveMessage, live } from './live.ts';
import { isGuarded } from './session.ts';

export const SPAN_SECONDS = 600;

/** A second; rates are queries a second. */
export interface Point {
  /** Seconds since 1970. */
  readonly at: number;
  readonly passed: number;
  readonly paid: number;
  /** Refused, or would be were the rule enabled. */
  readonly refused: number;
  readonly isRefused: boolean;
  /** Tokens that come in a second; null without a rule. */
  readonly bucket: number | null;
  readonly threshold: number | null;
  readonly attack: boolean;
}

/** The oldest first; a new array for each change. */
export const points = signal<readonly Point[]>([]);

let before: { readonly atMs: number; readonly counts: Counts } | undefined;

type Counts = NonNullable<LiveMessage['guard']>['since_start'];

effect(() => {
  // Read again after each interruption: the server has what was missed.
  if (!isGuarded.value || connection.value !== 'live') return;
  void fill();
});
effect(() => {
  if (live.value === undefined) {
    before = undefined;
    points.value = [];
  } else add(live.value);
});

async function fill(): Promise<void> {
  const answer = await readRates();
  if ('failure' in answer) return;
  const { until, passed, paid, refused, would_refuse, bucket_per_second, attack } = answer.value.result;
  const end = Math.floor(Date.parse(until) / 1000);
  const first = end - passed.length;
  const threshold = live.peek()?.guard?.threshold.rate_per_second ?? null;
  const older = passed.map((rate, i): Point => {
    const bucket = bucket_per_second[i] ?? 0;
    const dropped = refused[i] ?? 0;
    return {
      at: first + i,
      passed: rate,
      paid: paid[i] ?? 0,
      refused: dropped + (would_refuse[i] ?? 0),
      isRefused: dropped > 0,
      bucket: bucket === 0 ? null : bucket,
      threshold,
      attack: attack[i] === 1,
    };
  });
  // What this page saw of the time before the server was started stays.
  const seen = points.peek();
  points.value = [
    ...seen.filter(({ at }) => at < first),
    ...older,
    ...seen.filter(({ at }) => at >= end),
  ].slice(-SPAN_SECONDS);
}

function add({ at, guard }: LiveMessage): void {
  if (guard === undefined) return;
  const atMs = Date.parse(at);
  const counts = guard.since_start;
  const last = before;
  before = { atMs, counts };
  if (last === undefined || atMs <= last.atMs) return;
  const seconds = (atMs - last.atMs) / 1000;
  // A guard that was started anew counts from zero again.
  const rate = (name: 'passed' | 'paid' | 'would_drop' | 'dropped' | 'truncated') =>
    Math.max(0, counts[name] - last.counts[name]) / seconds;
  const refused = rate('dropped') + rate('truncated');
  const point: Point = {
    at: Math.floor(atMs / 1000),
    passed: rate('passed'),
    paid: rate('paid'),
    refused: refused + rate('would_drop'),
    isRefused: refused > 0,
    bucket: guard.rule === undefined ? null : guard.bucket.rate_per_second,
    threshold: guard.threshold.rate_per_second,
    attack: guard.attack,
  };
  const kept = points.peek();
  if (kept.at(-1)?.at === point.at) return;
  points.value = [...kept.slice(-SPAN_SECONDS + 1), point];
}

/** The mean of the last seconds, so that numbers in words do not flicker. */
export function meanOf(seconds: number): { readonly queries: number; readonly refused: number } {
  const last = points.value.slice(-seconds);
  const sum = (of: (point: Point) => number) =>
    last.reduce((total, point) => total + of(point), 0) / Math.max(1, last.length);
  return {
    queries: sum(({ passed, paid, refused }) => passed + paid + refused),
    refused: sum(({ refused }) => refused),
  };
}
