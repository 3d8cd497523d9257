/** Queries/s of the last ten minutes: first the record of the server, then one point per live message. */
import { effect, signal } from '@preact/signals';
import { readRates } from './api/guard.ts';
import { connection, type LiveMessage, live } from './live.ts';
import { type Point, pointBetween, pointsOfRates } from './ratePoints.ts';
import { isGuarded } from './session.ts';

export const SPAN_SECONDS = 600;

/** Oldest first. Each change replaces the array. */
export const points = signal<readonly Point[]>([]);

let before: LiveMessage | undefined;

effect(() => {
  // After each interruption of the live stream, read the record again to fill the gap.
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
  const threshold = live.peek()?.guard?.threshold.rate_per_second ?? null;
  const older = pointsOfRates(answer.value.result, threshold);
  const end = Math.floor(Date.parse(answer.value.result.until) / 1000);
  const first = end - older.length;
  // Keep older points: a restarted server has no record of the time before.
  const seen = points.peek();
  points.value = [
    ...seen.filter(({ at }) => at < first),
    ...older,
    ...seen.filter(({ at }) => at >= end),
  ].slice(-SPAN_SECONDS);
}

function add(message: LiveMessage): void {
  const point = pointBetween(before, message);
  if (message.guard !== undefined) before = message;
  const kept = points.peek();
  if (point === undefined || kept.at(-1)?.at === point.at) return;
  points.value = [...kept.slice(-SPAN_SECONDS + 1), point];
}

/** Returns the mean of the last seconds, so that numbers in text do not flicker. */
export function meanRates(seconds: number): Readonly<Record<'queries' | 'limited' | 'wouldDrop', number>> {
  const last = points.value.slice(-seconds);
  const mean = (of: (point: Point) => number) =>
    last.reduce((total, point) => total + of(point), 0) / Math.max(1, last.length);
  return {
    queries: mean(({ passed, paid, limited, wouldDrop }) => passed + paid + limited + wouldDrop),
    limited: mean(({ limited }) => limited),
    wouldDrop: mean(({ wouldDrop }) => wouldDrop),
  };
}
