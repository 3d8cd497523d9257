import { shown } from '../value/time.tsx';

const DAY_S = 86_400;

const clockOf = (seconds: number): string => shown().clock.format(seconds * 1000);
const dayOf = (seconds: number): string => shown().dayOfYear.format(seconds * 1000);

/** Returns a time as text, with the date if the span has several days. */
export const timeText = (seconds: number, [from, to]: readonly [number, number]): string =>
  to - from > DAY_S ? `${dayOf(seconds)}, ${clockOf(seconds).slice(0, 5)}` : clockOf(seconds);

/** Returns the label of an axis. In a span of several days, midnight has the date. */
export function axisTime(seconds: number, [from, to]: readonly [number, number]): string {
  const clock = clockOf(seconds);
  if (to - from > DAY_S && clock.startsWith('00:00')) return dayOf(seconds);
  return clock.endsWith(':00') ? clock.slice(0, 5) : clock;
}
