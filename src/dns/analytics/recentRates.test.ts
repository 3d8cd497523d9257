import { expect, it } from 'vitest';
import { AttackDetector, VERDICTS, verdictOf } from '../detector/index.ts';
import { KEPT_SECONDS, RecentRates } from './recentRates.ts';

const KEY = { high: 1, low: 2 };
const NOW = Date.UTC(2026, 10, 22, 3, 0, 0);

function rates() {
  const counted = new Float64Array(VERDICTS);
  const detector = new AttackDetector(KEY, {}, NOW);
  const recent = new RecentRates(detector, NOW, () => counted);
  const count = (
    outcome: Parameters<typeof verdictOf>[0],
    reason: Parameters<typeof verdictOf>[1],
    queries: number,
  ) => {
    const verdict = verdictOf(outcome, reason);
    counted[verdict] = (counted[verdict] ?? 0) + queries;
  };
  return { detector, recent, count };
}

it('RecentRates counts queries by outcome and second, and the queries that had to pay', () => {
  const { detector, recent, count } = rates();
  expect(recent.seconds().series.passed).toEqual([]);
  count('passed', 'none', 300);
  count('paid', 'unknownName', 100);
  count('dropped', 'unknownName', 50);
  count('truncated', 'aboveUsual', 5);
  count('dropped', 'clientRate', 7);
  count('dropped', 'accessList', 2);
  count('passed', 'accessList', 40);
  recent.sample(NOW + 1000);
  count('wouldDrop', 'unknownType', 8);
  Object.assign(detector.userQueries, { answered: 3, limited: 2, unanswered: 1 });
  recent.sample(NOW + 2000);
  const { series, endSecond } = recent.seconds();
  expect(endSecond).toBe(NOW / 1000 + 2);
  expect(series).toMatchObject({
    passed: [340, 0],
    allowed: [40, 0],
    paid: [100, 0],
    limited: [64, 0],
    would_drop: [0, 8],
    paying: [155, 8],
    paying_known: [5, 8],
    truncated: [5, 0],
    bucket_per_second: [0, 0],
    attack: [0, 0],
    mode: [0, 0],
    known_asked: [0, 6],
    known_answered: [0, 3],
    known_limited: [0, 2],
  });
});

it('RecentRates spreads queries over the seconds since the last call, and ignores a second call within a second', () => {
  const { recent, count } = rates();
  count('passed', 'none', 10);
  recent.sample(NOW + 500);
  recent.sample(NOW + 999);
  expect(recent.seconds().series.passed).toEqual([]);
  count('passed', 'none', 20);
  recent.sample(NOW + 3100);
  expect(recent.seconds().series.passed).toEqual([10, 10, 10]);
});

it('RecentRates keeps ten minutes, even if the clock jumps', () => {
  const { recent, count } = rates();
  for (let second = 1; second <= KEPT_SECONDS + 10; second++) {
    count('passed', 'none', second);
    recent.sample(NOW + second * 1000);
  }
  const { passed } = recent.seconds().series;
  expect(passed).toHaveLength(KEPT_SECONDS);
  expect([passed[0], passed.at(-1)]).toEqual([11, KEPT_SECONDS + 10]);
  count('passed', 'none', 5);
  recent.sample(NOW + 24 * 3_600_000);
  expect(recent.seconds().series.passed).toHaveLength(KEPT_SECONDS);
  count('passed', 'none', 3);
  recent.sample(NOW + 1000);
  expect(recent.seconds().series.passed.at(-1)).toBe(3);
});
