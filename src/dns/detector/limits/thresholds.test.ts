import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FLOOR, RateHistory, thresholdOf } from './thresholds.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const NOW = Date.UTC(2026, 10, 21);

describe('the threshold', () => {
  it('is the 95th percentile, and five times that as burst', () => {
    const samples = Array.from({ length: 100 }, (_, i) => (i + 1) * 10);
    expect(thresholdOf(samples)).toEqual({ ratePerSecond: 950, burst: 4750 });
  });

  it('is at least 100 queries per second', () => {
    expect(thresholdOf([])).toEqual(FLOOR);
    expect(thresholdOf([1, 2, 99])).toEqual({ ratePerSecond: 100, burst: 500 });
  });

  it('is at least as high as 95 % of the samples', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1 }), (samples) => {
        const { ratePerSecond } = thresholdOf(samples);
        const below = samples.filter((rate) => rate <= ratePerSecond).length;
        expect(below / samples.length).toBeGreaterThanOrEqual(0.95);
      }),
    );
  });
});

interface Traffic {
  readonly fromMinute: number;
  readonly minutes: number;
  readonly perSecond: number;
  readonly attack?: boolean;
}

it('the history goes on if the clock was set back, and adds no sample of the time between', () => {
  const history = new RateHistory(7 * DAY_MS);
  const seconds = (fromMs: number): void => {
    for (let second = 0; second < 180; second++) history.add(10, false, fromMs + second * 1000);
  };
  seconds(NOW);
  seconds(NOW - DAY_MS);
  expect(history.samples().map(([, rate]) => Math.round(rate))).toEqual([10, 10, 10, 10]);
});

describe('the history', () => {
  const run = (history: RateHistory, { fromMinute, minutes, perSecond, attack = false }: Traffic) => {
    if (history.samples().length === 0) history.add(0, false, NOW + fromMinute * MINUTE_MS);
    for (let second = 1; second <= minutes * 60; second++)
      history.add(perSecond, attack, NOW + fromMinute * MINUTE_MS + second * 1000);
  };

  it('computes a threshold after the first full minute and then every ten minutes', () => {
    const history = new RateHistory(7 * DAY_MS);
    expect(history.threshold).toEqual(FLOOR);
    run(history, { fromMinute: 0, minutes: 1, perSecond: 300 });
    expect(history.threshold.ratePerSecond).toBe(300);
    run(history, { fromMinute: 1, minutes: 9, perSecond: 900 });
    expect(history.threshold.ratePerSecond).toBe(300);
    run(history, { fromMinute: 10, minutes: 1, perSecond: 900 });
    expect(history.threshold.ratePerSecond).toBe(900);
  });

  it('continues with usual traffic during an attack, and counts those minutes separately', () => {
    const history = new RateHistory(7 * DAY_MS);
    run(history, { fromMinute: 0, minutes: 10, perSecond: 200 });
    run(history, { fromMinute: 10, minutes: 600, perSecond: 300, attack: true });
    expect(history.threshold.ratePerSecond).toBe(300);
    expect([history.minutes, history.watchedMinutes]).toEqual([10, 610]);
    const again = new RateHistory(7 * DAY_MS);
    again.restore(history.samples());
    again.add(0, false, NOW + 620 * MINUTE_MS);
    expect([again.threshold.ratePerSecond, again.minutes]).toEqual([300, 10]);
  });

  it('ignores minutes under attack that were stored without their rate', () => {
    const history = new RateHistory(7 * DAY_MS);
    const minute = NOW / MINUTE_MS;
    history.restore([...Array(10)].map((_, n) => [minute + n, n < 5 ? -1 : 250] as const));
    history.add(0, false, NOW + 11 * MINUTE_MS);
    expect([history.threshold.ratePerSecond, history.minutes]).toEqual([250, 5]);
  });

  it('deletes samples older than the window', () => {
    const history = new RateHistory(20 * MINUTE_MS);
    run(history, { fromMinute: 0, minutes: 15, perSecond: 5000 });
    run(history, { fromMinute: 15, minutes: 60, perSecond: 200 });
    expect(history.threshold.ratePerSecond).toBe(200);
    expect(history.samples().length).toBeLessThanOrEqual(20);
  });

  it('does not count downtime as quiet minutes', () => {
    const history = new RateHistory(7 * DAY_MS);
    run(history, { fromMinute: 0, minutes: 15, perSecond: 500 });
    const again = new RateHistory(7 * DAY_MS);
    again.restore(history.samples());
    run(again, { fromMinute: 600, minutes: 15, perSecond: 500 });
    expect(again.threshold.ratePerSecond).toBe(500);
    expect(again.minutes).toBe(30);
  });
});
