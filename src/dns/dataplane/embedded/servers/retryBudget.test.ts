import { expect, it } from 'vitest';
import { RetryBudget } from './retryBudget.ts';

/** Takes retries until none is left. Returns their number. */
function taken(budget: RetryBudget): number {
  let retries = 0;
  while (budget.take()) retries++;
  return retries;
}

it('the retry budget permits a burst of 100 retries, then a tenth of the queries', () => {
  const budget = new RetryBudget();
  expect(taken(budget)).toBe(100);
  for (let query = 0; query < 105; query++) budget.earn();
  expect(taken(budget)).toBe(10);
  for (let query = 0; query < 5_000; query++) budget.earn();
  expect(taken(budget)).toBe(100);
});
