const MICROS_PER_MILLI = 1000;

/** A moment as microseconds since 1970: what a store orders its changes by. Safe as a number until the year 2255. */
export type Micros = number;

/** `2026-11-20T22:10:38.762503+00:00`: six fractional digits and a numeric offset (decisions A). */
export function formatTimestamp(moment: Micros): string {
  const millis = Math.floor(moment / MICROS_PER_MILLI);
  const rest = String(moment - millis * MICROS_PER_MILLI).padStart(3, '0');
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}+00:00`;
}

/** The moment that `formatTimestamp` wrote. */
export function parseTimestamp(text: string): Micros {
  const millis = Date.parse(`${text.slice(0, 23)}Z`);
  return millis * MICROS_PER_MILLI + Number(text.slice(23, 26));
}

/** The wall clock in microseconds. It may jump back as wall clocks do: stores make their own moments grow. */
export function wallClock(): Micros {
  const microsOfMilli = Math.floor(performance.now() * MICROS_PER_MILLI) % MICROS_PER_MILLI;
  return Date.now() * MICROS_PER_MILLI + microsOfMilli;
}
