import { expect, it } from 'vitest';
import { ClientRates } from './clientRates.ts';

const RATE = { ratePerSecond: 10, burst: 50 };
/** Returns how many of 100 queries found a token. */
const taken = (rates: ClientRates, client: string, nowMs: number): number =>
  Array.from({ length: 100 }, () => rates.take(client, RATE, nowMs)).filter(Boolean).length;

it('each client has its own bucket, which refills with time up to its burst', () => {
  const rates = new ClientRates();
  expect(taken(rates, 'a', 0)).toBe(50);
  expect(taken(rates, 'b', 0)).toBe(50);
  expect(taken(rates, 'a', 1000)).toBe(10);
  expect(taken(rates, 'a', 3_600_000)).toBe(50);
});

it('a clock that is set back adds no tokens, and delays refills by no more than its step', () => {
  const rates = new ClientRates();
  expect(taken(rates, 'a', 10_000)).toBe(50);
  expect(taken(rates, 'a', 0)).toBe(0);
  expect(taken(rates, 'a', 1000)).toBe(10);
});

it('the number of buckets is bounded; recently used ones are kept', () => {
  const rates = new ClientRates(100);
  for (let i = 0; i < 1000; i++) {
    rates.take(`client ${i}`, RATE, 0);
    rates.take('busy', RATE, 0);
  }
  expect(rates.size).toBe(100);
  expect(taken(rates, 'busy', 0)).toBe(0);
});
