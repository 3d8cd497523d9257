import { expect, it } from 'vitest';
import { type AuditPageRequest, ruleFormat } from '../../index.ts';
import { liveState } from './liveState.ts';
import { readPosition } from './position.ts';

/** An audit of other accounts' changes alone, as large as a page may look through. */
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
  whatIf: () => undefined,
  attacks: async () => ({ result: [], total: 0 }),
  attack: async () => undefined,
  fleet: async () => [],
  endedSince(ms: number) {
    asked.push(ms);
    return [{ id: 'over' }];
  },
};
const state = liveState({ audit, format: ruleFormat, guard, rulesTag: async () => '"tag"' });
const parsed = (text: string) => {
  const [, id = '', data = ''] = /^id: (.*)\ndata: (.*)\n\n$/.exec(text) ?? [];
  return { position: readPosition(id), data: JSON.parse(data) };
};

it('tells a listener of attacks that ended since its last message, and a new one of none', async () => {
  const first = await state.message({ account: 'a', isAudited: false, since: undefined, nowMs: 1_000 });
  expect(parsed(first.text).data).toMatchObject({ guard: { attack: false }, ended_attacks: [] });
  const second = await state.message({ account: 'a', isAudited: false, since: first.next, nowMs: 2_000 });
  expect(parsed(second.text).data.ended_attacks).toEqual([{ id: 'over' }]);
  expect(asked).toEqual([1_000]);
  expect(parsed(second.text).position).toEqual(second.next);
});

it('tells other accounts nothing of the guard', async () => {
  const { text } = await state.message({
    account: 'b',
    isAudited: true,
    since: { change: 1, atMs: 1 },
    nowMs: 2,
  });
  expect(parsed(text).data).toEqual({ at: expect.any(String), rules_etag: '"tag"', changes: [] });
});

it('begins behind what it has looked through, where nothing there is of the account', async () => {
  const { next } = await state.message({ account: 'b', isAudited: true, since: undefined, nowMs: 2 });
  expect(next.change).toBe(5_000);
});
