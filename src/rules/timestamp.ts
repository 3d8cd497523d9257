const MICROS_PER_MILLI = 1000;
const timestamp = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.(\d{1,9}))?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Time in microseconds since 1970. Stores order changes by it. A number holds it exactly until the year 2255. */
export type Micros = number;

/** Formats a time with six fractional digits and a numeric offset: `2026-11-20T22:10:38.762503+00:00`. */
export function formatTimestamp(moment: Micros): string {
  const millis = Math.floor(moment / MICROS_PER_MILLI);
  const rest = String(moment - millis * MICROS_PER_MILLI).padStart(3, '0');
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}+00:00`;
}

export const timestampOfMillis = (moment: number): string => formatTimestamp(moment * MICROS_PER_MILLI);

/** Parses a timestamp written by `formatTimestamp`. */
export function parseTimestamp(text: string): Micros {
  const millis = Date.parse(`${text.slice(0, 23)}Z`);
  return millis * MICROS_PER_MILLI + Number(text.slice(23, 26));
}

/** Converts an RFC 3339 time to the format of `formatTimestamp`, truncated to microseconds; undefined if invalid. */
export function parseMoment(text: string): string | undefined {
  const match = timestamp.exec(text);
  const millis = Date.parse(text.toUpperCase());
  if (!match || Number.isNaN(millis) || !isCalendarDate(text.slice(0, 'YYYY-MM-DD'.length))) return undefined;
  const micros = Number((match[1] ?? '').padEnd(6, '0').slice(3, 6));
  return boundedTimestamp(millis * 1000 + micros);
}

/** Returns whether an RFC 3339 time with any number of fractional digits is `stored`, a time of `formatTimestamp`. */
export function isSameInstant(text: string, stored: string): boolean {
  const short = text.replace(/(\.\d{6})0+(?=\D)/, '$1');
  return !/\.\d{7}/.test(short) && parseMoment(short) === stored;
}

/** Formats a time as `formatTimestamp`. Earlier and later times become 1970 and the last time that a number holds. */
export const boundedTimestamp = (moment: Micros): string =>
  formatTimestamp(Math.min(Math.max(0, moment), Number.MAX_SAFE_INTEGER));

/** `Date.parse` alone would accept 30 February as 2 March. `date`: YYYY-MM-DD with a valid month and day. */
const isCalendarDate = (date: string): boolean => new Date(date).toISOString().startsWith(date);

/** Returns the wall-clock time. It may jump back, so stores do not rely on it alone for increasing times. */
export function wallClock(): Micros {
  const microsOfMilli = Math.floor(performance.now() * MICROS_PER_MILLI) % MICROS_PER_MILLI;
  return Date.now() * MICROS_PER_MILLI + microsOfMilli;
}
