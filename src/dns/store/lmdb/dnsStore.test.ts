import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MinuteRecord } from '../../analytics/index.ts';
import { DnsStore } from './index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-dns-store-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const minuteRecord = (minute: number): MinuteRecord => ({
  ruleId: 'rule',
  minute,
  verdicts: [[0, 7]],
  profileNames: 1,
  ratePerSecond: 10,
  burst: 20,
  attackedZones: [],
});

test('counts are not stored while the store is not allowed to, but the identity is', async () => {
  let isAllowed = true;
  const store = DnsStore.open(folder, () => isAllowed);
  await store.append([minuteRecord(1)]);
  isAllowed = false;
  await store.append([minuteRecord(2)]);
  await store.setIdentity({ id: 'guard', secret: 'secret' } as never);
  isAllowed = true;
  await store.append([minuteRecord(3)]);
  expect([...store.range('rule', 0, 10)].map(({ minute }) => minute)).toEqual([1, 3]);
  expect(store.identity()).toMatchObject({ id: 'guard' });
  await store.close();
});

test('the counts of all rules are returned in order of time', async () => {
  const store = DnsStore.open(folder);
  await store.append([
    minuteRecord(5),
    { ...minuteRecord(4), ruleId: 'z' },
    { ...minuteRecord(5), ruleId: '' },
  ]);
  const all = [...store.rangeOfAll(4, 6)].map(({ ruleId, minute }) => `${minute} ${ruleId}`);
  expect(all).toEqual(['4 z', '5 ', '5 rule']);
  expect([...store.rangeOfAll(6, 9)]).toEqual([]);
  await store.close();
});
