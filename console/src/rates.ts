/** Query rates of the last ten minutes: first those that the server recorded, then one point per live message. */

import { computed, effect, signal } from '@preact/signals';
import { readRates } from './api/account.ts';
import { connection, type LiveMessage, live } from './live.ts';
import { answeredShare, type Point, pointBetween, pointsOfRates, type Rates } from './ratePoints.ts';
import { isGuarded } from './session.ts';

const SPAN_SECONDS = 600;

/** Points of the graph, oldest first. Each change replaces the array. */
export const points = signal<readonly Point[]>([]);

/** Share of users' queries in the last ten seconds that servers answered; undefined without queries. */
export const usersShare = computed(() => answeredShare(points.value.slice(-USERS_SECONDS)));
const USERS_SECONDS = 10;
/** Share of users' queries below which an attack harms users. */
const HARM_BELOW = 0.99;
export const isHarmful = computed(() => (usersShare.value ?? 1) < HARM_BELOW);

let before: LiveMessage | undefined;

effect(() => {
  // The recorded rates are read again after each interruption of the live stream, to fill the gap.
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
  const older = pointsOfRates(answer.value.result);
  const end = Math.floor(Date.parse(answer.value.result.until) / 1000);
  const first = end - older.length;
  // Points from before the record are kept, because a restarted server has recorded no earlier rates.
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

/** Returns the mean rates of the last seconds, in queries/s. Unlike the last rate, they do not flicker in a text. */
export function meanRates(seconds: number): Readonly<Record<'queries' | 'limited' | 'wouldDrop', number>> {
  const last = points.value.slice(-seconds);
  const mean = (of: (rates: Rates) => number) =>
    last.reduce((total, { rates }) => total + (rates ? of(rates) : 0), 0) / Math.max(1, last.length);
  return {
    queries: mean(({ passed, dropped, truncated, wouldDrop }) => passed + dropped + truncated + wouldDrop),
    limited: mean(({ dropped, truncated }) => dropped + truncated),
    wouldDrop: mean(({ wouldDrop }) => wouldDrop),
  };
}
