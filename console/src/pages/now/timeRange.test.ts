import { expect, it } from 'vitest';
import { timeRangeOf, withTimeRange } from './timeRange.ts';

const NOW = Date.parse('2026-11-27T03:12:00Z') / 1000;
const rangeOf = (query: string) => timeRangeOf(new URLSearchParams(query), NOW);

it('the URL selects a range, and a wrong one selects the last ten minutes', () => {
  const standard = { key: '10m', from: NOW - 600, to: NOW, hasSeconds: true };
  expect(rangeOf('')).toEqual(standard);
  expect(rangeOf('range=6h')).toEqual({ key: '6h', from: NOW - 21_600, to: NOW, hasSeconds: false });
  for (const wrong of [
    'range=9y',
    'from=x&to=y',
    'from=2026-11-27T03:10:00Z',
    'from=2026-11-27T03:10:00Z&to=2026-11-27T03:09:00Z',
    'from=2026-11-28T03:10:00Z&to=2026-11-28T03:11:00Z',
    'from=2020-01-01T00:00:00Z&to=2026-11-27T03:11:00Z',
  ])
    expect(rangeOf(wrong), wrong).toEqual(standard);
});

it('a period selected in a graph is part of the URL, next to other parameters', () => {
  const query = withTimeRange(new URLSearchParams('name=a.test&range=1h'), [NOW - 90, NOW - 30]);
  expect(query).toBe('name=a.test&from=2026-11-27T03%3A10%3A30Z&to=2026-11-27T03%3A11%3A30Z');
  expect(rangeOf(query)).toEqual({ key: undefined, from: NOW - 90, to: NOW - 30, hasSeconds: true });
  expect(withTimeRange(new URLSearchParams(query), '10m')).toBe('name=a.test');
  expect(withTimeRange(new URLSearchParams(query), '7d')).toBe('name=a.test&range=7d');
  expect(rangeOf('from=2026-11-27T02:10:30Z&to=2026-11-27T02:11:30Z').hasSeconds).toBe(false);
});
