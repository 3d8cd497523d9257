import { expect, it } from 'vitest';
import { AttackDetector } from '../detector/index.ts';
import { questionOf } from '../protocol/index.ts';
import { createAnalyticsHandler } from './analytics.ts';
import { type MinuteRecord, mergeMinutes, QueryStats } from './queryStats.ts';

const KEY = { high: 1, low: 2 };
const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 10, 21, 3, 0, 30);

it('analytics include the running minute, with the counts that an earlier run stored for it', async () => {
  let nowMs = NOW - MINUTE_MS;
  const detector = new AttackDetector(KEY, {}, nowMs);
  const stats = new QueryStats(detector, nowMs);
  const kept: MinuteRecord[] = [];
  const store = {
    async append(records: readonly MinuteRecord[]) {
      kept.push(...records);
    },
    range: (_: string, from: number, to: number) =>
      kept.filter(({ minute }) => minute >= from && minute < to).values(),
  };
  const own = { account: 'a', instance: 'here', place: {}, detector, stats, store };
  const analytics = (query = {}) =>
    createAnalyticsHandler({ own, now: () => nowMs })({ account: 'a', ruleId: '' }, query);
  const ask = (queries: number) => {
    for (let i = 0; i < queries; i++) detector.decide(questionOf(`h${i}.test`, 1, KEY), nowMs);
  };
  ask(3);
  kept.push(...stats.flush(nowMs));
  nowMs = NOW;
  stats.flush(nowMs);
  ask(5);
  expect((await analytics()).minutes.map(({ passed }) => passed)).toEqual([3, 5]);
  expect((await analytics()).totals.passed).toBe(8);
  // A run that was stopped a moment ago had stored two queries of this minute.
  const [running] = stats.currentMinute(nowMs);
  if (running === undefined) throw new Error('a minute lasts');
  kept.push({ ...running, verdicts: [[0, 2]] });
  expect((await analytics()).minutes.map(({ passed }) => passed)).toEqual([3, 7]);
  // Reading has no side effect: the stored record contains exactly the counted queries.
  expect(mergeMinutes(running, { ...running, verdicts: [] }).verdicts).toEqual([[0, 5]]);
  expect(stats.flush(nowMs)[0]?.verdicts).toEqual([[0, 5]]);
  const until = new Date(NOW - MINUTE_MS).toISOString();
  const before = await analytics({ until });
  expect(before.minutes.map(({ passed }) => passed)).toEqual([3]);
});
