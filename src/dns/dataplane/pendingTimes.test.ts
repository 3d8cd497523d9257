import { expect, it } from 'vitest';
import { questionOf } from '../protocol/index.ts';
import { PendingTimes } from './pendingTimes.ts';
import { ResponseTimes, TimeCounts } from './responseTimes.ts';

const KEY = { high: 1, low: 2 };
const ANSWER = Uint8Array.of(0, 0, 0x80, 0);
const SERVFAIL = Uint8Array.of(0, 0, 0x80, 2);
const PORT = 5300;
/** The clock of the reporting program is an hour ahead of ours. */
const AHEAD_MS = 3_600_000;

function reported() {
  const times = new ResponseTimes();
  const pending = new PendingTimes(times);
  const counts = new TimeCounts();
  const asked = (name: string, id = 1) => Object.assign(questionOf(name, 1, KEY), { id });
  const sent = (name: string, ms: number, { userZone = 1, id = 1 } = {}) => {
    pending.note(AHEAD_MS + ms, ms);
    pending.sent(asked(name, id), PORT, userZone, AHEAD_MS + ms);
  };
  const answered = (name: string, ms: number, { answer = ANSWER, id = 1 } = {}) => {
    pending.note(AHEAD_MS + ms, ms);
    pending.answered(asked(name, id), PORT, answer, AHEAD_MS + ms);
  };
  const counted = () => {
    times.takeTo(counts);
    const byTime = [...counts.times.entries()].filter(([, count]) => count > 0);
    return { byTime: Object.fromEntries(byTime), unanswered: counts.unanswered };
  };
  return { pending, asked, sent, answered, counted };
}

it('response times are counted by the clock of the reporting program, once per query', () => {
  const { sent, answered, counted } = reported();
  sent('a.test', 1000);
  sent('b.test', 1001);
  answered('a.test', 1007);
  answered('a.test', 1008);
  answered('b.test', 1031);
  answered('never-asked.test', 1040);
  expect(counted()).toEqual({ byTime: { 7: 1, 30: 1 }, unanswered: 0 });
});

it('unusual queries and those for unknown names and of other classes are not counted', () => {
  const { pending, asked, sent, answered, counted } = reported();
  sent('a.test', 1000, { userZone: 0 });
  pending.sent({ ...asked('b.test'), class: 3 }, PORT, 1, AHEAD_MS + 1000);
  pending.sent({ ...asked('c.test'), isUnusual: true }, PORT, 1, AHEAD_MS + 1000);
  answered('a.test', 1001);
  answered('b.test', 1001);
  pending.expire(100_000);
  expect(counted()).toEqual({ byTime: {}, unanswered: 0 });
});

it('SERVFAIL, late answers and missing answers count as unanswered', () => {
  const { pending, sent, answered, counted } = reported();
  for (const [id, name] of ['servfail.test', 'late.test', 'none.test', 'waits.test'].entries())
    sent(name, id < 3 ? 1000 : 1400, { id });
  answered('servfail.test', 1001, { answer: SERVFAIL, id: 0 });
  answered('late.test', 1501, { id: 1 });
  pending.expire(1501);
  expect(counted()).toEqual({ byTime: {}, unanswered: 3 });
});

it('queries that were answered from a cache are not counted', () => {
  const { pending, asked, sent, answered, counted } = reported();
  sent('cached.test', 1000);
  pending.answeredFromCache(asked('cached.test'), PORT);
  answered('cached.test', 1001);
  pending.expire(100_000);
  expect(counted()).toEqual({ byTime: {}, unanswered: 0 });
});

it('a query waits while reports are late, and counts as unanswered after two seconds without a report', () => {
  const { pending, sent, counted } = reported();
  sent('a.test', 1000);
  pending.expire(2999);
  expect(counted()).toEqual({ byTime: {}, unanswered: 0 });
  pending.expire(3000);
  expect(counted()).toEqual({ byTime: {}, unanswered: 1 });
});

it('if more queries wait than fit, those that are stored are a fair sample', () => {
  const { pending, sent, answered, counted } = reported();
  // One query in ten is not answered.
  for (let n = 0; n < 5000; n++) {
    sent(`h${n}.test`, 1000, { id: n });
    if (n % 10 !== 0) answered(`h${n}.test`, 1000, { id: n });
  }
  pending.expire(3000);
  const { byTime, unanswered } = counted();
  expect(unanswered).toBeGreaterThan(200);
  expect(unanswered / ((byTime[0] ?? 0) + unanswered)).toBeCloseTo(0.1, 1);
});
