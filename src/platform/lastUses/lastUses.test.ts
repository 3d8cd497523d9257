import { afterEach, expect, it, vi } from 'vitest';
import { LastUses } from './lastUses.ts';

const timestampOf = (atMs: number): string => new Date(atMs).toISOString();
afterEach(() => {
  vi.useRealTimers();
});

/** A store in memory that can refuse writes. */
function store(kept: Record<string, string> = {}) {
  const writes: Array<ReadonlyMap<string, string>> = [];
  let isAway = false;
  return {
    writes,
    setAway(value: boolean) {
      isAway = value;
    },
    lastUses: async () => new Map(Object.entries(kept)),
    noteUses: async (uses: ReadonlyMap<string, string>) => {
      if (isAway) throw new Error('it is away');
      writes.push(uses);
    },
  };
}

it('tells the later of what was seen and of what others have written', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z') });
  const uses = new LastUses(
    { timestampOf },
    store({
      old: '2026-11-01T00:00:00.000Z',
      elsewhere: '2026-11-22T13:00:00.000Z',
      never: '2026-01-01T00:00:00.000Z',
    }),
  );
  for (const id of ['old', 'elsewhere', 'new']) uses.used(id);
  expect(Object.fromEntries(await uses.all())).toEqual({
    old: '2026-11-22T12:00:00.000Z',
    elsewhere: '2026-11-22T13:00:00.000Z',
    never: '2026-01-01T00:00:00.000Z',
    new: '2026-11-22T12:00:00.000Z',
  });
  await uses.stop();
});

it('writes each use once, at the end too, and later what could not be written', async () => {
  vi.useFakeTimers({ now: 0 });
  const at = store();
  const uses = new LastUses({ timestampOf, writeMs: 1_000 }, at);
  uses.used('a');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(at.writes.map((write) => [...write.keys()])).toEqual([['a']]);
  at.setAway(true);
  uses.used('b');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(at.writes).toHaveLength(1);
  at.setAway(false);
  uses.used('c');
  await uses.stop();
  expect(at.writes.map((write) => [...write.keys()])).toEqual([['a'], ['b', 'c']]);
});

it('sees so many at the most', async () => {
  const uses = new LastUses({ timestampOf }, store());
  for (let id = 0; id < 10_100; id++) uses.used(String(id));
  expect((await uses.all()).size).toBe(10_000);
  await uses.stop();
});
