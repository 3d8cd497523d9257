import { beforeEach, expect, it } from 'vitest';
import { RecurringNames } from './recurringNames.ts';

const HOUR_MS = 3_600_000;
const [HIGH, LOW] = [0xabcdef00, 7];
/** At this time, the hours modulo 256 are small numbers. */
const START_MS = 256 * 1_000 * HOUR_MS;

let names: RecurringNames;
const noted = (hour: number, high = HIGH) => names.note(high, LOW, START_MS + hour * HOUR_MS);
beforeEach(() => {
  names = new RecurringNames();
});

it('a name that is answered in another hour of the same day is found again, and then starts anew', () => {
  expect([noted(0), noted(0.9), noted(24), noted(24), noted(24)]).toEqual([
    'first',
    'repeated',
    'again',
    'first',
    'repeated',
  ]);
});

it('a name is forgotten after 24 hours', () => {
  expect([noted(0), noted(25), noted(26)]).toEqual(['first', 'first', 'again']);
});

it('names with other hashes are other names', () => {
  expect([noted(0), noted(1, HIGH ^ 0x100), noted(1, 0x80), noted(2, 0x180)]).toEqual([
    'first',
    'first',
    'first',
    'again',
  ]);
});

it('four names of a set are remembered, and another one evicts one of them', () => {
  const tags = [1, 2, 3, 4].map((tag) => tag << 8);
  for (const tag of tags) expect(noted(0, tag)).toBe('first');
  expect(tags.map((tag) => noted(0, tag))).toEqual(['repeated', 'repeated', 'repeated', 'repeated']);
  expect(noted(0, 5 << 8)).toBe('first');
  // In the next hour, a name that is found leaves its entry free.
  expect([5 << 8, ...tags].filter((tag) => noted(1, tag) === 'again')).toHaveLength(4);
});
