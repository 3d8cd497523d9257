/** Shows a time in the local time zone, with the UTC time as its tooltip. */
export function Time({
  at,
  form = 'moment',
}: {
  readonly at: string;
  readonly form?: 'moment' | 'clock' | 'ago';
}) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <span>{at}</span>;
  return (
    <time dateTime={at} title={`${date.toISOString()} (UTC)`}>
      {FORMS[form](date)}
    </time>
  );
}

const two = (number: number): string => String(number).padStart(2, '0');
const clock = (date: Date): string =>
  `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

const FORMS = {
  /** Date and time: `22 Nov 2026, 03:12:45`. */
  moment: (date: Date) => `${day.format(date)}, ${clock(date)}`,
  /** Time: `03:12:45`. The date precedes it unless it is today. */
  clock: (date: Date) =>
    date.toDateString() === new Date().toDateString() ? clock(date) : `${day.format(date)}, ${clock(date)}`,
  ago: (date: Date) => `${formatDuration(Date.now() - date.getTime())} ago`,
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
