import { expect, it } from 'vitest';
import { ClientRates } from './clientRates.ts';

const RATE = { ratePerSecond: 10, burst: 50 };
/** How many tokens of a hundred are there. */
const taken = (rates: ClientRates, client: string, nowMs: number): number =>
  Array.from({ length: 100 }, () => rates.take(client, RATE, nowMs)).filter(Boolean).length;

it('each client has a bucket of its own, which fills with time and never beyond its size', () => {
  const rates = new ClientRates();
  expect(taken(rates, 'a', 0)).toBe(50);
  expect(taken(rates, 'b', 0)).toBe(50);
  expect(taken(rates, 'a', 1000)).toBe(10);
  expect(taken(rates, 'a', 3_600_000)).toBe(50);
});

it('a clock that is set back brings nothing, and takes nothing for longer than the step', () => {
  const rates = new ClientRates();
  expect(taken(rates, 'a', 10_000)).toBe(50);
  expect(taken(rates, 'a', 0)).toBe(0);
  expect(taken(rates, 'a', 1000)).toBe(10);
});

it('whoever comes under many names finds no more memory than there is; the last to ask is kept', () => {
  const rates = new ClientRates(100);
  for (let i = 0; i < 1000; i++) {
    rates.take(`client ${i}`, RATE, 0);
    rates.take('busy', RATE, 0);
  }
  expect(rates.size).toBe(100);
  expect(taken(rates, 'busy', 0)).toBe(0);
});
