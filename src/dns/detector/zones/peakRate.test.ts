import { expect, it } from 'vitest';
import { PeakRate } from './peakRate.ts';

const DAY_SECONDS = 24 * 3600;

/** Adds traffic of a constant rate in windows of ten minutes. */
function run(rate: PeakRate, perSecond: number, days: number): number {
  for (let at = 0; at < days * DAY_SECONDS; at += 600) rate.add(600 * perSecond, 600, false);
  return rate.perSecond;
}

it('the peak rate is the mean of ten minutes', () => {
  const rate = new PeakRate();
  rate.add(599 * 90, 599, false);
  expect(rate.perSecond).toBe(0);
  rate.add(90, 1, false);
  expect(rate.perSecond).toBe(90);
});

it('the peak rate grows freely up to 100 per second, and then twofold per day', () => {
  const rate = new PeakRate();
  expect(run(rate, 1_000, 600 / DAY_SECONDS)).toBe(100);
  expect(run(rate, 1_000, 1)).toBeCloseTo(200);
  expect(run(rate, 1_000, 10)).toBe(1_000);
  rate.add(600 * 5_000, 600, true);
  expect(rate.perSecond).toBe(5_000);
});

it('the peak rate halves in five days without queries', () => {
  const rate = new PeakRate();
  run(rate, 80, 1);
  expect(run(rate, 0, 5)).toBeCloseTo(40);
});
