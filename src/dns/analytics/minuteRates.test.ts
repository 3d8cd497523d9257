import { expect, it } from 'vitest';
import { AttackDetector, verdictOf } from '../detector/index.ts';
import { minuteRates } from './minuteRates.ts';
import { type MinuteRecord, QueryStats } from './queryStats.ts';

const KEY = { high: 1, low: 2 };
const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 10, 21, 3, 0, 30);
const MINUTE = Math.floor(NOW / MINUTE_MS);

const record = (minute: number, ruleId: string, more: Partial<MinuteRecord> = {}): MinuteRecord => ({
  ruleId,
  minute,
  verdicts: [[verdictOf('passed', 'none'), 600]],
  profileNames: 0,
  ratePerSecond: 100,
  burst: 500,
  attackedZones: [],
  ...more,
});

it('minute rates add up all rules, and are null for minutes without a record', () => {
  const records = [
    record(MINUTE - 3, ''),
    record(MINUTE - 1, 'a', { mode: 'monitoring', users: { answered: 60, limited: 6, unanswered: 54 } }),
    record(MINUTE - 1, 'b', {
      mode: 'enabled',
      attackedZones: ['x.test'],
      verdicts: [
        [verdictOf('dropped', 'unknownName'), 1200],
        [verdictOf('truncated', 'unknownName'), 60],
        [verdictOf('paid', 'unknownName'), 600],
      ],
    }),
  ];
  const store = {
    rangeOfAll: (from: number, to: number) => records.filter(({ minute }) => minute >= from && minute < to),
  };
  const stats = new QueryStats(new AttackDetector(KEY, {}, NOW), NOW);
  const rates = minuteRates({ store, stats }, { sinceMs: NOW - 3 * MINUTE_MS, untilMs: NOW, nowMs: NOW });
  expect(rates).toMatchObject({
    since: '2026-11-21T02:57:00.000Z',
    passed: [10, null, 20, 0],
    dropped: [0, null, 20, 0],
    truncated: [0, null, 1, 0],
    known_asked: [0, null, 2, 0],
    known_answered: [0, null, 1, 0],
    known_limited: [0, null, 0.1, 0],
    bucket_per_second: [0, null, 100, 0],
    attack: [0, null, 1, 0],
    mode: [0, null, 3, 0],
  });
  // Longer periods than the server stores, and periods in the future, are cut off.
  const all = minuteRates({ store, stats }, { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER, nowMs: NOW });
  expect((all['passed'] as number[]).length).toBe(7 * 24 * 60);
  expect(minuteRates({ store, stats }, { sinceMs: NOW, untilMs: 0, nowMs: NOW })['passed']).toEqual([]);
});
