import { effect, signal } from '@preact/signals';

const STORED = 'floodgate.utc';

/** Whether times are shown in UTC instead of the local time zone. The browser remembers it. */
export const isUtc = signal(localStorage.getItem(STORED) !== null);
effect(() => {
  if (isUtc.value) localStorage.setItem(STORED, '1');
  else localStorage.removeItem(STORED);
});

/** Shows a time in the local time zone, with the UTC time as its tooltip; or the reverse with the switch for UTC. */
export function Time({ at, form = 'moment' }: { readonly at: string; readonly form?: 'moment' | 'clock' }) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{at}</span>;
  return (
    <time dateTime={at} title={isUtc.value ? `${date} (local)` : `${date.toISOString()} (UTC)`}>
      {FORMS[form](date)}
    </time>
  );
}

/**
 * Returns formatters of dates and times of day in a time zone. Default: the local one. They write English, as the rest
 * of the page: the browser's language may have another calendar, in which it is the year 2569 or 1405.
 */
const formatters = (zone: { readonly timeZone?: 'UTC' } = {}) => ({
  day: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', ...zone }),
  dayOfYear: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', ...zone }),
  clock: new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', ...zone }),
  zonedClock: new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...zone,
  }),
});
const local = formatters();
const utc = formatters({ timeZone: 'UTC' });
/** The formatters of the time zone that the user chose. */
export const shown = () => (isUtc.value ? utc : local);

const HOUR_MS = 3_600_000;

/** Returns whether the local time occurs twice, because the clocks are set back by an hour before or after it. */
function isRepeated(date: Date): boolean {
  const [before = 0, at = 0, after = 0] = [-HOUR_MS, 0, HOUR_MS].map((ms) =>
    new Date(date.getTime() + ms).getTimezoneOffset(),
  );
  return before < at || at < after;
}

/** Returns the time of day, with the time zone if it is not the local one or the local time occurs twice. */
export const clock = (date: Date): string =>
  shown()[isUtc.value || isRepeated(date) ? 'zonedClock' : 'clock'].format(date);
const dayOf = (date: Date): string => shown().day.format(date);
/** Returns whether a time is on the current day of the shown time zone. */
export const isToday = (date: Date): boolean => dayOf(date) === dayOf(new Date());

const FORMS = {
  /** Date and time: `22 Nov 2026, 03:12:45`. */
  moment: (date: Date) => `${dayOf(date)}, ${clock(date)}`,
  /** Time: `03:12:45`. The date precedes it unless it is today. */
  clock: (date: Date) => (isToday(date) ? clock(date) : `${dayOf(date)}, ${clock(date)}`),
};

const SPANS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** Formats a duration by its two largest units: `3 min 20 s`. */
export function formatDuration(ms: number): string {
  let rest = Math.max(0, ms);
  const parts: string[] = [];
  for (const [spanMs, unit] of SPANS) {
    const count = Math.floor(rest / spanMs);
    rest -= count * spanMs;
    if (count > 0) parts.push(`${count} ${unit}`);
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.join(' ') || '0 s';
}
