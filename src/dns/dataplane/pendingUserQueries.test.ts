import { expect, it } from 'vitest';
import { UserEnd } from '../detector/index.ts';
import { PendingUserQueries } from './pendingUserQueries.ts';

const answer = (rcode: number) => Uint8Array.of(0, 0, 0x80, rcode);

function users(max = 10) {
  const ends: (readonly [number, UserEnd])[] = [];
  const waiting = new PendingUserQueries(max, (zone, end) => ends.push([zone, end]));
  const ask = (key: string, userZone: number, more: Partial<Parameters<PendingUserQueries['add']>[1]> = {}) =>
    waiting.add(key, { userZone, sinceMs: 0, unlessAnswered: UserEnd.unanswered, ...more });
  return { waiting, ends, ask };
}

it('a user query is counted once: by its answer, or by its outcome without one', () => {
  const { waiting, ends, ask } = users();
  ask('answered', 1);
  ask('nxdomain', 2);
  ask('servfail', 3);
  ask('silence', 4);
  ask('dropped', 5, { unlessAnswered: UserEnd.limited });
  ask('passed after all', 6, { unlessAnswered: UserEnd.limited });
  ask('waits', 7, { sinceMs: 900 });
  ask('unknown name', 0);
  for (const [key, rcode] of [
    ['answered', 0],
    ['nxdomain', 3],
    ['servfail', 2],
    ['passed after all', 0],
    ['unknown name', 0],
    ['answered', 0],
  ] as const)
    waiting.answered(key, answer(rcode));
  waiting.expire(500);
  waiting.expire(500);
  expect(ends).toEqual([
    [1, UserEnd.answered],
    [2, UserEnd.answered],
    [3, UserEnd.unanswered],
    [6, UserEnd.answered],
    [4, UserEnd.unanswered],
    [5, UserEnd.limited],
  ]);
  expect(waiting.isEmpty).toBe(false);
});

it('the oldest user query is evicted when the table is full, and a repeated query ends the earlier one', () => {
  const { ends, ask } = users(2);
  ask('a', 1);
  ask('a', 1);
  ask('b', 2);
  expect(ends).toEqual([[1, UserEnd.unanswered]]);
  ask('c', 3);
  expect(ends).toEqual([
    [1, UserEnd.unanswered],
    [1, UserEnd.unanswered],
  ]);
});
