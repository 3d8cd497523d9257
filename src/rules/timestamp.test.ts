import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatTimestamp, parseMoment, parseTimestamp, wallClock } from './timestamp.ts';

it('a timestamp has six fractional digits and a numeric offset', () => {
  expect(formatTimestamp(1_795_212_638_762_503)).toBe('2026-11-20T22:10:38.762503+00:00');
  expect(formatTimestamp(0)).toBe('1970-01-01T00:00:00.000000+00:00');
});

it('timestamps round-trip, and sort in the order of their times', () => {
  const moment = fc.integer({ min: 0, max: 9_000_000_000_000_000 });
  fc.assert(
    fc.property(moment, moment, (a, b) => {
      expect(parseTimestamp(formatTimestamp(a))).toBe(a);
      expect(formatTimestamp(a) < formatTimestamp(b)).toBe(a < b);
    }),
  );
});

it('parseMoment accepts only dates of the calendar', () => {
  expect(parseMoment('2028-02-29T12:00:00Z')).toBe('2028-02-29T12:00:00.000000+00:00');
  expect(parseMoment('2027-12-31T23:00:00-02:00')).toBe('2028-01-01T01:00:00.000000+00:00');
  for (const date of ['2027-02-29', '2027-02-30', '2027-04-31', '2027-13-01', '2027-00-10', '2027-01-00'])
    expect(parseMoment(`${date}T12:00:00Z`)).toBeUndefined();
});

it('wallClock returns the current time', () => {
  expect(Math.abs(wallClock() / 1000 - Date.now())).toBeLessThan(1000);
});
