import { isUtc } from '../value/time.tsx';

const two = (number: number): string => String(number).padStart(2, '0');
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const DAY_S = 86_400;

/** Returns a date whose local parts are those to show: of local time, or of UTC if the user chose it. */
function shownDate(seconds: number): Date {
  const date = new Date(seconds * 1000);
  return isUtc.value ? new Date(date.getTime() + date.getTimezoneOffset() * 60_000) : date;
}

/** Returns a time as text, with the date if the span has several days. */
export function timeText(seconds: number, [from, to]: readonly [number, number]): string {
  const date = shownDate(seconds);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return to - from > DAY_S ? `${day.format(date)}, ${clock.slice(0, 5)}` : clock;
}

/** Returns the label of an axis. In a span of several days, midnight has the date. */
export function axisTime(seconds: number, span: readonly [number, number]): string {
  const date = shownDate(seconds);
  if (span[1] - span[0] > DAY_S && date.getHours() + date.getMinutes() === 0) return day.format(date);
  const text = timeText(seconds, [0, 0]);
  return date.getSeconds() === 0 ? text.slice(0, 5) : text;
}
