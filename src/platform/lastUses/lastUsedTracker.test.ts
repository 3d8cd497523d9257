import { afterEach, expect, it, vi } from 'vitest';
import { LastUsedTracker } from './lastUsedTracker.ts';

const timestampOf = (atMs: number): string => new Date(atMs).toISOString();
afterEach(() => {
  vi.useRealTimers();
});

/** A store in memory that can reject writes. */
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

it('LastUses returns the later of the local and the stored time', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-22T12:00:00Z') });
  const uses = new LastUsedTracker(
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

it('LastUses writes each use once, also at the stop, and retries failed writes', async () => {
  vi.useFakeTimers({ now: 0 });
  const at = store();
  const uses = new LastUsedTracker({ timestampOf, writeMs: 1_000 }, at);
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

it('LastUses tracks new ids however many were used before', async () => {
  const at = store();
  const uses = new LastUsedTracker({ timestampOf }, at);
  for (let id = 0; id < 10_000; id++) uses.used(String(id));
  await uses.write();
  uses.used('new');
  await uses.write();
  expect(at.writes.map((write) => write.size)).toEqual([10_000, 1]);
  await uses.stop();
});

it('LastUses tracks at most 10,000 ids', async () => {
  const uses = new LastUsedTracker({ timestampOf }, store());
  for (let id = 0; id < 10_100; id++) uses.used(String(id));
  expect((await uses.all()).size).toBe(10_000);
  await uses.stop();
});
