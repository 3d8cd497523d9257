import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checkRepeatedly } from './repeatedCheck.ts';

const PERIOD_MS = 20_000;
const STEP_MS = 100;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it('checks that start together are spread over time, and none is later than the period', () => {
  const lastMs = Array.from({ length: 200 }, () => 0);
  let nowMs = 0;
  let checks = 0;
  for (const i of lastMs.keys())
    checkRepeatedly(PERIOD_MS, () => {
      checks++;
      lastMs[i] = nowMs;
    });
  let most = 0;
  while (nowMs < 4 * PERIOD_MS) {
    nowMs += STEP_MS;
    const before = checks;
    vi.advanceTimersByTime(STEP_MS);
    most = Math.max(most, checks - before);
    expect(nowMs - Math.min(...lastMs)).toBeLessThanOrEqual(PERIOD_MS + STEP_MS);
  }
  // On average, one is in a step.
  expect(most).toBeLessThan(20);
});

it('a check that was stopped is not called, also if it stops itself', () => {
  let checks = 0;
  const stop = checkRepeatedly(PERIOD_MS, () => {
    checks++;
    stop();
  });
  vi.advanceTimersByTime(10 * PERIOD_MS);
  expect(checks).toBe(1);
});
