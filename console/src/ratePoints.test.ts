import { expect, it } from 'vitest';
import { type CounterSample, pointBetween, pointsOfRates } from './ratePoints.ts';

const NONE = { passed: 0, allowed: 0, paid: 0, would_drop: 0, dropped: 0, truncated: 0, reasons: {} };
const message = (at: string, mode: string, counts: Partial<typeof NONE>): CounterSample => ({
  at: `2026-11-25T03:12:${at}Z`,
  guard: {
    rule: { id: 'r', mode, profile_sensitivity: '', rate_sensitivity: '', burst_sensitivity: '' },
    ...{ since_start: { ...NONE, ...counts }, threshold: { rate_per_second: 100, burst: 100 } },
    ...{ bucket: { rate_per_second: 50, burst: 50, tokens: 0 }, attack: true },
  },
});

it('points contain limited and would-drop queries of each second under its own mode', () => {
  const zeros = [0, 0, 0];
  const points = pointsOfRates(
    {
      until: '2026-11-25T03:12:04Z',
      ...{ passed: [9, 9, 9], allowed: zeros, paid: zeros, paying: zeros, paying_known: zeros },
      ...{ limited: [0, 3, 70], would_drop: [80, 40, 0], bucket_per_second: [0, 5, 5], attack: [0, 1, 1] },
    },
    100,
  );
  expect(points.map(({ at, limited, wouldDrop, bucket }) => [at % 60, limited, wouldDrop, bucket])).toEqual([
    [1, 0, 80, null],
    [2, 3, 40, 5],
    [3, 70, 0, 5],
  ]);
});

it('a point is the mean between two messages, with both series if the mode changed between them', () => {
  const first = message('00.000', 'monitoring', { would_drop: 100 });
  const next = message('02.000', 'enabled', { passed: 8, would_drop: 140, dropped: 50, truncated: 10 });
  expect(pointBetween(first, next)).toMatchObject({ passed: 4, wouldDrop: 20, limited: 30 });
  // The current mode does not change how earlier queries are counted.
  const back = message('03.000', 'monitoring', { passed: 8, would_drop: 140, dropped: 55, truncated: 10 });
  expect(pointBetween(next, back)).toMatchObject({ wouldDrop: 0, limited: 5 });
});

it('there is no point without a previous message, without a guard, or without elapsed time; a restarted guard counts from zero', () => {
  const one = message('00.000', 'enabled', { dropped: 5 });
  expect(pointBetween(undefined, one)).toBeUndefined();
  expect(pointBetween(one, { at: '2026-11-25T03:12:01Z' })).toBeUndefined();
  expect(pointBetween({ at: '2026-11-25T03:11:59Z' }, one)).toBeUndefined();
  expect(pointBetween(one, one)).toBeUndefined();
  expect(pointBetween(one, message('01.000', 'enabled', {}))).toMatchObject({ limited: 0 });
});
