import { expect, it } from 'vitest';
import { AnswerKind } from '../../protocol/index.ts';
import { AttackCounts } from './attackCounts.ts';

const NOTHING = {
  seconds: 0,
  queries: 0,
  unknown: 0,
  users: { answered: 0, limited: 0, unanswered: 0 },
  refusals: { limited: 0, wouldDrop: 0, knownWouldDrop: 0 },
};

it('the counts of an attack are the sums since the previous report', () => {
  const counts = new AttackCounts();
  const users = { answered: 5, limited: 1, unanswered: 2 };
  const refusals = { limited: 7, wouldDrop: 3, knownWouldDrop: 1, beyondUsual: 0 };
  expect(counts.take()).toEqual({ ...NOTHING, answers: [] });
  for (let second = 0; second < 2; second++) {
    const zone = { seconds: 1, queries: 20, unknown: 12, learned: 0, answers: 10, nxdomains: 10 };
    counts.noteSecond(zone, refusals, users);
    counts.noteAnswer(AnswerKind.nxdomain);
  }
  const taken = counts.take();
  expect(taken).toMatchObject({
    seconds: 2,
    queries: 40,
    unknown: 24,
    users: { answered: 10, limited: 2, unanswered: 4 },
    refusals: { limited: 14, wouldDrop: 6, knownWouldDrop: 2 },
  });
  expect(taken.answers.flatMap((count, kind) => (count === 0 ? [] : [[kind, count]]))).toEqual([
    [AnswerKind.nxdomain, 2],
  ]);
  expect(counts.take()).toMatchObject(NOTHING);
});
