import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { QUIET } from '../../platform/logging/index.ts';
import { watchClock } from './watchClock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('a clock jump in either direction is logged once, and slewing is not logged', () => {
  const reported: object[] = [];
  const clocks = { wall: 1_000_000, monotonic: 5_000 };
  const log = { ...QUIET, error: (fields: object) => void reported.push(fields) };
  const stop = watchClock(log, 0, { wallMs: () => clocks.wall, monotonicMs: () => clocks.monotonic });
  const pass = (wallMs: number) => {
    clocks.wall += wallMs;
    clocks.monotonic += 1_000;
    vi.advanceTimersByTime(1_000);
  };
  for (const wallMs of [1_000, 1_400, 600, 3_601_000, 1_000, -3_599_000, 1_000]) pass(wallMs);
  stop();
  pass(1_000_000);
  expect(reported).toEqual([{ jumpSeconds: 3600 }, { jumpSeconds: -3600 }]);
});

it('a clock behind the last change is logged at startup', () => {
  const reported: object[] = [];
  watchClock({ ...QUIET, error: (fields: object) => void reported.push(fields) }, 90)();
  expect(reported).toEqual([{ behindSeconds: 90 }]);
});
