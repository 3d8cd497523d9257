import { expect, it } from 'vitest';
import { parseTimestamp } from '../../../rules/index.ts';
import { readMoment } from './tokenTime.ts';

const now = parseTimestamp('2026-11-20T22:10:38.762503+00:00');

it('a time is a duration, or a date with an optional time and offset', () => {
  expect(readMoment('90d', now, 'future')).toBe('2027-02-18T22:10:38.762503+00:00');
  expect(readMoment('12h', now, 'past')).toBe('2026-11-20T10:10:38.762503+00:00');
  for (const text of ['2027-01-31', '2027-01-31T00:00', '2027-01-31 00:00:00', '2027-01-31T02:00:00.0+0200'])
    expect(readMoment(text, now, 'future')).toBe('2027-01-31T00:00:00.000000+00:00');
  expect(readMoment('2027-01-31T12:00:00Z', now, 'future')).toBe('2027-01-31T12:00:00.000000+00:00');
});

it('a date that is not in the calendar is rejected, not moved to the next month', () => {
  for (const text of ['2027-02-30', '2027-02-30T12:00:00Z', '2027-1-31', 'yesterday', '-5m', '2027-01-31Tx'])
    expect(() => readMoment(text, now, 'future')).toThrow(`"${text}" is not a time`);
});

it('a duration beyond the range of timestamps ends at the bound', () => {
  expect(readMoment('999999w', now, 'future')).toBe('2255-06-05T23:47:34.740991+00:00');
  expect(readMoment('999999w', now, 'past')).toBe('1970-01-01T00:00:00.000000+00:00');
});
