/** How limits of zones that are judged by query rate are learned and raised. */
import { describe, expect, it } from 'vitest';
import { RecurringNames } from '../profile/recurringNames.ts';
import { Allowance } from './allowance.ts';
import { PeakRate } from './peakRate.ts';
import { UnknownHours } from './unknownHours.ts';

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 24 * 3600;

describe('the busiest ten minutes', () => {
  it('are a mean, so that a short peak counts little', () => {
    const peak = new PeakRate();
    for (let second = 0; second < 600; second++) peak.add(second < 60 ? 1000 : 100, 1, true);
    expect(peak.perSecond).toBe(190);
  });

  it('grow at most twofold per day unless free, from 100 on', () => {
    const peak = new PeakRate();
    for (let day = 0; day < 3; day++)
      for (let second = 0; second < DAY_SECONDS; second += 600) peak.add(600 * 10_000, 600, false);
    expect(peak.perSecond).toBeGreaterThan(700);
    expect(peak.perSecond).toBeLessThanOrEqual(800);
  });

  it('halve in five days without queries', () => {
    const peak = new PeakRate();
    peak.add(600 * 1000, 600, true);
    for (let second = 0; second < 5 * DAY_SECONDS; second += 600) peak.add(0, 600, false);
    expect(peak.perSecond).toBeCloseTo(500, 5);
  });
});

describe('the allowance of a zone', () => {
  const state = { isLimited: true, isRelaxed: true, mostFactor: 10 };

  it('doubles the limits within 80 seconds of limited queries, up to its maximum', () => {
    const allowance = new Allowance();
    for (let second = 0; second <= 80; second++) allowance.update(state, second * 1000);
    expect(allowance.factor).toBeGreaterThan(2);
    for (let second = 0; second <= 600; second++) allowance.update(state, 80_000 + second * 1000);
    expect(allowance.factor).toBe(10);
  });

  it('ends at once when the servers are overloaded, and after an hour without limited queries', () => {
    for (const [changed, afterMs] of [
      [{ isRelaxed: false }, 1000],
      [{ isLimited: false }, HOUR_MS + 1000],
    ] as const) {
      const allowance = new Allowance();
      allowance.update(state, 0);
      allowance.update(state, 10_000);
      expect(allowance.factor).toBeGreaterThan(1);
      allowance.update({ ...state, ...changed }, 10_000 + afterMs);
      expect(allowance.factor).toBe(1);
    }
  });
});

describe('a zone with mostly unknown names', () => {
  const hours = (unknown: number, count: number, isExcluded = false) => {
    const zone = new UnknownHours();
    for (let hour = 0; hour <= count; hour++)
      zone.add({ queries: 10_000, unknown: unknown * 10_000 }, isExcluded, hour * HOUR_MS);
    return zone;
  };

  it('is one after 24 consecutive hours, not before', () => {
    expect(hours(0.5, 23).isMostlyUnknown).toBe(false);
    expect(hours(0.5, 24).isMostlyUnknown).toBe(true);
    expect(hours(0.49, 100).isMostlyUnknown).toBe(false);
  });

  it('is none after hours that an attack or overloaded servers exclude', () => {
    expect(hours(0.9, 100, true).isMostlyUnknown).toBe(false);
  });

  it('is no longer one after 24 hours with few unknown names, also across a restart', () => {
    const zone = hours(0.9, 24);
    for (let hour = 25; hour < 37; hour++)
      zone.add({ queries: 10_000, unknown: 1000 }, false, hour * HOUR_MS);
    const restarted = new UnknownHours();
    restarted.restore(zone.stored());
    for (let hour = 37; hour < 51; hour++)
      restarted.add({ queries: 10_000, unknown: 1000 }, false, hour * HOUR_MS);
    expect(restarted.isMostlyUnknown).toBe(false);
  });
});

describe('a recurring name', () => {
  it('is one when it is answered in two different hours of a day', () => {
    const names = new RecurringNames();
    const seen = [0, 0.5, 1.2, 1.4, 27].map((hour) => names.note(7, 9, hour * HOUR_MS));
    expect(seen).toEqual(['first', 'repeated', 'again', 'first', 'first']);
  });

  it('is found again among 500,000 others of the hour, as long as its set has room', () => {
    const names = new RecurringNames();
    const hash = (n: number, factor: number) => Math.imul(n + 1, factor) >>> 0;
    for (let n = 0; n < 500_000; n++) names.note(hash(n, 0x9e3779b1), hash(n, 0x85ebca6b), 0);
    let again = 0;
    for (let n = 0; n < 500_000; n += 100)
      if (names.note(hash(n, 0x9e3779b1), hash(n, 0x85ebca6b), HOUR_MS) === 'again') again++;
    expect(again).toBeGreaterThan(4500);
  });
});
