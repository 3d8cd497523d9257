import { clock, isToday, shown } from '../value/time.tsx';

const DAY_S = 86_400;

const clockOf = (seconds: number): string => shown().clock.format(seconds * 1000);
const dayOf = (seconds: number): string => shown().dayOfYear.format(seconds * 1000);

/** Returns a time as text, with the date unless it is today. Times of earlier days have no seconds. */
export function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return isToday(date) ? clock(date) : `${dayOf(seconds)}, ${clock(date).replace(/:00(?= |$)/, '')}`;
}

/** Returns the label of an axis. In a span of several days, midnight has the date. */
export function axisTime(seconds: number, [from, to]: readonly [number, number]): string {
  const time = clockOf(seconds);
  if (to - from > DAY_S && time.startsWith('00:00')) return dayOf(seconds);
  return time.endsWith(':00') ? time.slice(0, 5) : time;
}
