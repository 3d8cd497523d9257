import { expect, it } from 'vitest';
import { ServfailLimit } from './servfailLimit.ts';

it('at most 1,000 SERVFAIL answers are sent in a second, and only these are counted', () => {
  const limit = new ServfailLimit();
  const sent = Array.from({ length: 3000 }, (_, i) => limit.take(5000 + (i % 1000))).filter(Boolean);
  expect([sent.length, limit.sent]).toEqual([1000, 1000]);
  expect(limit.take(6000, 999)).toBe(true);
  expect(limit.take(6999, 2)).toBe(false);
  expect(limit.take(6999)).toBe(true);
  expect(limit.sent).toBe(2000);
});
