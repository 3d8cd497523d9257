import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Attack, RETENTION_DAYS } from '../../src/dns/attacks/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { atEnd } from './support/atEnd.ts';

const NOW = Date.UTC(2026, 10, 21);
const DAY_MS = 24 * 3_600_000;
const moment = (ms: number): string => new Date(ms).toISOString();

/** Returns an attack that started this many days ago. */
function attack(id: string, daysAgo: number, state: Attack['state'] = 'ended'): Attack {
  const began = moment(NOW - daysAgo * DAY_MS);
  const none = { queries: 0, unknown_names: 0, limited: 0, would_drop: 0 };
  return {
    id,
    state,
    zones: ['example.test'],
    zone_count: 1,
    detected_by: 'unknown_rate',
    started_on: began,
    last_seen_on: began,
    ended_on: state === 'ended' ? began : undefined,
    now: none,
    peak: none,
    queries: 1,
    unknown_names: 1,
    limited: 1,
    would_drop: 0,
    limited_share: 1,
    known_names: { asked: 0, answered: 0, limited: 0, would_drop: 0 },
    response_codes: {},
    sampled_names: [],
    changes: [],
    top: { sampled: 0, weight: 0, names: [], types: [], networks: [] },
  };
}

it('DnsStore keeps attacks for 90 days and across a restart, and lists them in pages, newest first', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  let store = DnsStore.open(folder);
  atEnd(() => store.close());
  await store.putAttacks([attack('old', 91), attack('kept', 89)]);
  await store.putAttacks([attack('b', 2), attack('c', 1, 'active'), attack('a', 3)]);
  await store.deleteAttacks(NOW - RETENTION_DAYS * DAY_MS);
  await store.close();
  store = DnsStore.open(folder);
  const ids = (query: Parameters<DnsStore['attacks']>[0]) => {
    const { result, total } = store.attacks(query);
    return [total, ...result.map(({ id }) => id)];
  };
  expect(ids({ page: 1, perPage: 100 })).toEqual([4, 'c', 'b', 'a', 'kept']);
  expect(ids({ page: 2, perPage: 3 })).toEqual([4, 'kept']);
  expect(ids({ page: 3, perPage: 3 })).toEqual([4]);
  expect(ids({ page: Number.MAX_SAFE_INTEGER, perPage: 100 })).toEqual([4]);
  expect(ids({ page: 1, perPage: 9, sinceMs: NOW - 2 * DAY_MS, untilMs: NOW - DAY_MS })).toEqual([1, 'b']);
  expect(store.attack('old')).toBeUndefined();
  expect(store.attack('b')).toEqual(attack('b', 2));
  expect(store.unfinished(NOW - 2.5 * DAY_MS)).toEqual({
    open: [attack('c', 1, 'active')],
    begun: [NOW - 2 * DAY_MS, NOW - DAY_MS],
  });
  await store.putAttacks([{ ...attack('c', 1), queries: 7 }]);
  expect(store.unfinished(NOW).open).toEqual([]);
  expect(store.attack('c')).toMatchObject({ state: 'ended', queries: 7 });
  expect(ids({ page: 1, perPage: 100 })).toEqual([4, 'c', 'b', 'a', 'kept']);
});
