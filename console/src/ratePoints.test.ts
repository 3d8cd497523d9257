import { expect, it } from 'vitest';
import {
  answeredShare,
  type CounterSample,
  modeMarks,
  pointBetween,
  pointsOfMinutes,
  pointsOfRates,
} from './ratePoints.ts';

const NO_USERS = { asked: 0, answered: 0, limited: 0 };
const NONE = { passed: 0, allowed: 0, paid: 0, would_drop: 0, dropped: 0, truncated: 0, reasons: {} };
type Counts = Partial<typeof NONE & { readonly known_names: typeof NO_USERS }>;
const message = (at: string, mode: string, counts: Counts): CounterSample => ({
  at: `2026-11-25T03:12:${at}Z`,
  guard: {
    rule: { id: 'r', mode, profile_sensitivity: '', rate_sensitivity: '', burst_sensitivity: '' },
    since_start: { ...NONE, known_names: NO_USERS, ...counts },
    bucket: { rate_per_second: 50, burst: 50, tokens: 0 },
    attack: true,
  },
});

const zeros = [0, 0, 0];
const RATES = {
  until: '2026-11-25T03:12:04Z',
  passed: [9, 9, 9],
  allowed: zeros,
  paid: [0, 1, 0],
  paying: zeros,
  paying_known: zeros,
  limited: [0, 3, 70],
  truncated: [0, 1, 0],
  would_drop: [80, 40, 0],
  bucket_per_second: [0, 5, 5],
  known_asked: [9, 9, 9],
  known_answered: [9, 7, 9],
  known_limited: [0, 1, 0],
  attack: [0, 1, 1],
  mode: [2, 2, 3],
};

it('points contain the queries of each second by outcome, and marks where the mode changed', () => {
  const points = pointsOfRates(RATES);
  expect(points.map(({ at, rates }) => [at % 60, rates?.passed, rates?.dropped, rates?.truncated])).toEqual([
    [1, 9, 0, 0],
    [2, 10, 2, 1],
    [3, 9, 70, 0],
  ]);
  expect(points.map(({ rates }) => [rates?.wouldDrop, rates?.bucket])).toEqual([
    [80, null],
    [40, 5],
    [0, 5],
  ]);
  expect(points[1]?.rates).toMatchObject({ answered: 7, usersLimited: 1, unanswered: 1 });
  expect(modeMarks(points)).toEqual([{ at: points[2]?.at, text: 'enabled' }]);
  expect(answeredShare(points)).toBeCloseTo(25 / 27);
  expect(answeredShare([])).toBeUndefined();
});

it('a minute in which the guard did not run has no rates', () => {
  const some = (value: number) => [value, null];
  const points = pointsOfMinutes({
    since: '2026-11-25T03:12:00Z',
    passed: some(9),
    truncated: some(1),
    dropped: some(2),
    would_drop: some(0),
    mode: some(3),
    known_asked: some(9),
    known_answered: some(9),
    known_limited: some(0),
    bucket_per_second: some(0),
    attack: some(1),
  });
  expect(points).toMatchObject([{ rates: { dropped: 2, bucket: null }, attack: true }, { rates: undefined }]);
  expect((points[1]?.at ?? 0) - (points[0]?.at ?? 0)).toBe(60);
});

it('a point is the mean between two messages, with both series if the mode changed between them', () => {
  const first = message('00.000', 'monitoring', { would_drop: 100 });
  const known_names = { asked: 12, answered: 8, limited: 2 };
  const next = message('02.000', 'enabled', {
    passed: 6,
    paid: 2,
    would_drop: 140,
    dropped: 50,
    truncated: 10,
    known_names,
  });
  const { rates } = pointBetween(first, next) ?? {};
  expect(rates).toMatchObject({ passed: 4, wouldDrop: 20, dropped: 25, truncated: 5 });
  expect(rates).toMatchObject({ answered: 4, usersLimited: 1, unanswered: 1 });
});

it('there is no point without a previous message, without a guard, or without elapsed time; a restarted guard counts from zero', () => {
  const one = message('00.000', 'enabled', { dropped: 5 });
  expect(pointBetween(undefined, one)).toBeUndefined();
  expect(pointBetween(one, { at: '2026-11-25T03:12:01Z' })).toBeUndefined();
  expect(pointBetween({ at: '2026-11-25T03:11:59Z' }, one)).toBeUndefined();
  expect(pointBetween(one, one)).toBeUndefined();
  expect(pointBetween(one, message('01.000', 'enabled', {}))?.rates).toMatchObject({ dropped: 0 });
});
