import { expect, it } from 'vitest';
import { type AuditPageRequest, ruleFormat } from '../../index.ts';
import { liveState } from './liveState.ts';
import { parsePosition } from './position.ts';

/** Audit log that contains only changes of other accounts, more than one page searches. */
const audit = {
  page: async (_filter: object, { limit }: AuditPageRequest) => ({
    entries: [],
    next: limit === 1 ? 5_000 : undefined,
  }),
  read: async function* () {},
};
const asked: number[] = [];
const guard = {
  accountId: 'a',
  status: () => ({ attack: false }),
  rates: () => undefined,
  minuteRates: () => undefined,
  samples: () => undefined,
  whatIf: () => undefined,
  assessments: () => undefined,
  mayForget: () => false,
  attacks: async () => ({ result: [], total: 0 }),
  attack: async () => undefined,
  fleet: async () => [],
  endedSince(ms: number) {
    asked.push(ms);
    return [{ id: 'over' }];
  },
};
const state = liveState({
  audit,
  format: ruleFormat,
  guard,
  rulesTag: async () => '"tag"',
  zonesTag: async () => '"z"',
});
const parsed = (text: string) => {
  const [, id = '', data = ''] = /^id: (.*)\ndata: (.*)\n\n$/.exec(text) ?? [];
  return { position: parsePosition(id), data: JSON.parse(data) };
};

it('a message contains the attacks that ended since the previous one; the first message contains none', async () => {
  const first = await state.message({ account: 'a', isAudited: false, since: undefined, nowMs: 1_000 });
  expect(parsed(first.text).data).toMatchObject({ guard: { attack: false }, ended_attacks: [] });
  const second = await state.message({ account: 'a', isAudited: false, since: first.next, nowMs: 2_000 });
  expect(parsed(second.text).data.ended_attacks).toEqual([{ id: 'over' }]);
  expect(asked).toEqual([1_000]);
  expect(parsed(second.text).position).toEqual(second.next);
});

it('a message to another account contains nothing about the guard', async () => {
  const { text } = await state.message({
    account: 'b',
    isAudited: true,
    since: { change: 1, atMs: 1 },
    nowMs: 2,
  });
  expect(parsed(text).data).toEqual({
    at: expect.any(String),
    rules_etag: '"tag"',
    zones_etag: '"z"',
    changes: [],
  });
});

it('a listener starts after the searched entries if none of them belongs to its account', async () => {
  const { next } = await state.message({ account: 'b', isAudited: true, since: undefined, nowMs: 2 });
  expect(next.change).toBe(5_000);
});
