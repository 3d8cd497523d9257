import { expect, it } from 'vitest';
import { AdaptiveConcurrency } from './adaptiveConcurrency.ts';

it('the concurrency limit grows slowly, halves on failure and never falls below one', () => {
  const pace = new AdaptiveConcurrency(4, 6);
  for (let i = 0; i < 8; i++) pace.answered();
  expect(pace.limit).toBe(5);
  for (let i = 0; i < 1000; i++) pace.answered();
  expect(pace.limit).toBe(6);
  pace.failed();
  expect(pace.limit).toBe(3);
  for (let i = 0; i < 5; i++) pace.failed();
  expect(pace.limit).toBe(1);
});
