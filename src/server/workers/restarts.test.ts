import { expect, it } from 'vitest';
import { Restarts } from './restarts.ts';

it('pauses for longer each time that the worker of a place dies soon, and for 10 seconds at most', () => {
  const restarts = new Restarts();
  const pauses = Array.from({ length: 10 }, () => restarts.pauseMs(0, 1_000));
  expect(pauses).toEqual([0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect(restarts.pauseMs(1, 0)).toBe(0);
  for (let i = 0; i < 2_000; i++) restarts.pauseMs(0, 0);
  expect(restarts.pauseMs(0, 0)).toBe(10_000);
});

it('begins again without a pause once one has lived for a while', () => {
  const restarts = new Restarts();
  restarts.pauseMs(0, 0);
  expect(restarts.pauseMs(0, 30_000)).toBe(100);
  expect([restarts.pauseMs(0, 30_001), restarts.pauseMs(0, 0)]).toEqual([0, 100]);
});
