import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PollLoop } from './pollLoop.ts';

const INTERVAL_MS = 1_000;
let passes: number;
let outcome: () => boolean;
let pauses: number[];
let recoveries: number;
let stop: AbortController;
let loop: PollLoop;
let ended: Promise<void>;

beforeEach(() => {
  vi.useFakeTimers();
  [passes, outcome, pauses, recoveries] = [0, () => false, [], 0];
  stop = new AbortController();
  loop = new PollLoop(INTERVAL_MS, {
    signal: stop.signal,
    pass: async () => {
      passes++;
      return outcome();
    },
    failed: (_, retryMs) => pauses.push(retryMs),
    recovered: () => recoveries++,
  });
  ended = loop.run();
});
afterEach(async () => {
  stop.abort();
  await ended;
  vi.useRealTimers();
});

const fail = (): never => {
  throw new Error('no node');
};

it('passes follow at the interval, or at once if there is more or the loop is woken', async () => {
  await vi.advanceTimersByTimeAsync(INTERVAL_MS - 1);
  expect(passes).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(passes).toBe(2);
  loop.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(passes).toBe(3);
  outcome = () => passes < 6;
  loop.wake();
  await vi.advanceTimersByTimeAsync(5);
  expect(passes).toBe(6);
  outcome = () => {
    if (passes === 7) loop.wake();
    return false;
  };
  loop.wake();
  await vi.advanceTimersByTimeAsync(5);
  expect(passes).toBe(8);
});

it('pauses double after each failure, up to ten seconds, and start again after a pass that succeeds', async () => {
  outcome = fail;
  loop.wake();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(pauses.slice(0, 8)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  expect([loop.isFailing, recoveries]).toEqual([true, 0]);
  loop.wake();
  const before = passes;
  await vi.advanceTimersByTimeAsync(0);
  expect(passes).toBe(before);
  outcome = () => false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect([loop.isFailing, loop.failure, recoveries]).toEqual([false, undefined, 1]);
  outcome = fail;
  pauses = [];
  await vi.advanceTimersByTimeAsync(INTERVAL_MS);
  expect(pauses[0]).toBe(250);
});
