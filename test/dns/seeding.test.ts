import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { respond, ZoneData } from '../../src/dns/authority/index.ts';
import type { Guard } from '../../src/dns/controller/index.ts';
import { AttackDetector, ZoneSeed } from '../../src/dns/detector/index.ts';
import { QueryType, questionOf } from '../../src/dns/protocol/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { readMasterFile, type ZoneSource } from '../../src/dns/zones/index.ts';
import { type Log, QUIET } from '../../src/platform/logging/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient } from './support/clients.ts';
import { parse, query } from './support/dnsClient.ts';
import { RULE, startGuardInFront, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noNsd, startNsd } from './support/realServer.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
});

async function guard(zones: readonly ZoneSource[], store?: DnsStore, log?: Log): Promise<Guard> {
  const { guard: started, stop } = await startGuardInFront(RULE, {
    zones,
    seed: false,
    ...(store && { profileStore: store, queryStatsStore: store }),
    ...(log && { log }),
  });
  await started.seeding.tried;
  return { ...started, stop };
}
const knows = ({ detector }: Guard, name: string) => {
  const { hashHigh, hashLow } = questionOf(name, 1, detector.key);
  return detector.profile.find(hashHigh, hashLow) >= 0;
};
/** Expects names of the zone to be known, and a similar name outside the zone to be unknown. */
const expectZoneKnown = (started: Guard) => {
  const names = [
    'example.test',
    'www.example.test',
    'under.here.example.test',
    'here.example.test',
    'h199.example.test',
  ];
  expect(names.map((name) => knows(started, name))).toEqual(names.map(() => true));
  expect(knows(started, 'h200.example.test')).toBe(false);
  expect(started.detector.zones.get('users.example.test')?.byRate).toBe(true);
  expect(started.detector.zones.get('sub.example.test')?.byRate).toBe(true);
  expect(started.detector.zones.get('example.test')?.byRate).toBe(false);
  expect(started.detector.ready).toBe(true);
};

describe('a zone file', () => {
  it('makes every name of the zone known at the start, and new names as soon as the file changes', async () => {
    const file = join(folder, 'zone');
    await writeFile(file, ZONE_TEXT);
    const started = await guard([{ name: ZONE_NAME, file }]);
    atEnd(() => started.stop());
    expectZoneKnown(started);
    await writeFile(`${file}.new`, `${ZONE_TEXT}\nfresh A 192.0.2.7\n`);
    await rename(`${file}.new`, file);
    await until('the new name to be known', () => knows(started, 'fresh.example.test'));
  });

  it('that is written slowly in place is read only when it is complete', async () => {
    const file = join(folder, 'zone');
    await writeFile(file, ZONE_TEXT);
    const started = await guard([{ name: ZONE_NAME, file }]);
    atEnd(() => started.stop());
    const wildcard = started.detector.zones.get(`users.${ZONE_NAME}`);
    const lines = `${ZONE_TEXT}\nfresh A 192.0.2.7\n`.split('\n');
    const half = lines.findIndex((line) => line.includes('*.users'));
    await writeFile(file, lines.slice(0, half).join('\n'));
    for (let part = 0; part < 15; part++) {
      await setTimeout(300);
      await appendFile(file, '\n');
      expect(wildcard?.byRate).toBe(true);
    }
    await appendFile(file, lines.slice(half).join('\n'));
    await until('the new name to be known', () => knows(started, 'fresh.example.test'));
    expect(wildcard?.byRate).toBe(true);
  });

  it('that cannot be read does not stop the guard, and is read as soon as it exists', async () => {
    const file = join(folder, 'zone');
    const started = await guard([{ name: ZONE_NAME, file }]);
    atEnd(() => started.stop());
    expect(started.detector.ready).toBe(false);
    await writeFile(file, ZONE_TEXT);
    await until('the zone to be seeded', () => started.detector.ready);
    expectZoneKnown(started);
  });
});

describe('a zone file without an SOA record of its zone', () => {
  const write = async (text: string): Promise<string> => {
    const file = join(folder, 'zone');
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
    return file;
  };
  it.each([
    ['is empty', ''],
    ['is cut off in front of the SOA record', '$TTL 3600\n'],
    ['begins with a wildcard', '* A 192.0.2.1\n'],
    ['is of another zone', `$ORIGIN other.test.\n@ SOA ns h 1 3600 600 86400 60\n@ NS ns\n`],
  ])('is rejected if it %s, and the zone keeps its names', async (_, text) => {
    const file = await write(ZONE_TEXT);
    const failures: string[] = [];
    const log = { ...QUIET, warn: (fields: object) => void failures.push(JSON.stringify(fields)) };
    const started = await guard([{ name: ZONE_NAME.toUpperCase(), file }], undefined, log);
    atEnd(() => started.stop());
    expectZoneKnown(started);
    await write(text);
    await until('the read to fail', () => failures.some((line) => line.includes('has no SOA record of')));
    expectZoneKnown(started);
  });
});

describe('a zone file with included files', () => {
  it('is read again when an included file changes, and keeps its names while a file is missing', async () => {
    const write = async (name: string, text: string): Promise<void> => {
      await writeFile(join(folder, `${name}.new`), text);
      await rename(join(folder, `${name}.new`), join(folder, name));
    };
    await write('zone', `${ZONE_TEXT}\n$INCLUDE hosts inner\n`);
    await write('hosts', 'one A 192.0.2.1\n$INCLUDE more\n');
    await write('more', '$GENERATE 1-9 g$ A 192.0.2.$\n');
    const failures: string[] = [];
    const log = { ...QUIET, warn: (fields: object) => void failures.push(JSON.stringify(fields)) };
    const started = await guard([{ name: ZONE_NAME, file: join(folder, 'zone') }], undefined, log);
    atEnd(() => started.stop());
    expectZoneKnown(started);
    const known = (name: string): boolean => knows(started, `${name}.inner.${ZONE_NAME}`);
    expect(['one', 'g1', 'g9', 'g10', 'two'].map(known)).toEqual([true, true, true, false, false]);
    await write('more', '$GENERATE 10-11 g$ A 192.0.2.$\n');
    await until('the names of the innermost file to be known', () => known('g11'));
    await rm(join(folder, 'more'));
    await until('the read to fail', () => failures.some((line) => line.includes('ENOENT')));
    expect(known('g11')).toBe(true);
    await write('more', 'two A 192.0.2.1\n');
    await until('the new name to be known', () => known('two'));
  });
});

describe('a parent and a child zone in files', () => {
  const CHILD = `sub.${ZONE_NAME}`;
  const CHILD_TEXT = '@ SOA ns h 1 3600 600 86400 60\n@ NS ns\nwww A 192.0.2.81\n';
  it('are both judged by names, in any order, also if the child is read late or a later read fails', async () => {
    const parent = { name: ZONE_NAME, file: join(folder, 'parent') };
    const child = { name: CHILD, file: join(folder, 'child') };
    await writeFile(parent.file, ZONE_TEXT);
    for (const zones of [
      [parent, child],
      [child, parent],
    ]) {
      await rm(child.file, { force: true });
      const started = await guard(zones);
      const zone = () => started.detector.zones.get(CHILD);
      // The first read of the child has failed, and its parent is seeded.
      expect(knows(started, `www.${ZONE_NAME}`)).toBe(true);
      expect([zone()?.byRate, zone()?.awaitsNames]).toEqual([false, true]);
      await writeFile(child.file, CHILD_TEXT);
      await until('the child to be seeded', () => knows(started, `www.${CHILD}`));
      expect([zone()?.byRate, zone()?.seeded]).toEqual([false, true]);
      await writeFile(child.file, `${CHILD_TEXT}new A 192.0.2.82\nbad line\n`);
      await writeFile(parent.file, `${ZONE_TEXT}\nlater${zones.indexOf(child)} A 192.0.2.7\n`);
      await until('the parent to be read again', () =>
        knows(started, `later${zones.indexOf(child)}.${ZONE_NAME}`),
      );
      await until('the changed child to be read', () => knows(started, `new.${CHILD}`));
      expect([zone()?.byRate, knows(started, `www.${CHILD}`)]).toEqual([false, true]);
      await started.stop();
    }
  });
});

describe('a transfer from NSD', () => {
  it('makes every name of the zone known, and new names as soon as the serial number changes', async (ctx) => {
    if (noNsd) return ctx.skip(noNsd);
    const nsd = await startNsd(ZONE_NAME, ZONE_TEXT);
    atEnd(() => nsd.stop());
    const started = await guard([{ name: ZONE_NAME, transferFrom: nsd }]);
    atEnd(() => started.stop());
    expectZoneKnown(started);
    await writeFile(nsd.zoneFile, `${ZONE_TEXT.replace('( 1 ', '( 2 ')}\nfresh A 192.0.2.7\n`);
    await nsd.reload();
    await until('the new name to be known', () => knows(started, 'fresh.example.test'));
  });
});

describe('the built-in server', () => {
  it('answers like NSD: response code, number of answers, and the authoritative bit', async (ctx) => {
    if (noNsd) return ctx.skip(noNsd);
    const nsd = await startNsd(ZONE_NAME, ZONE_TEXT);
    atEnd(() => nsd.stop());
    const client = await openUdpClient();
    const zone = new ZoneData(ZONE_TEXT, ZONE_NAME);
    const names = [
      '',
      'www.',
      'WWW.',
      'none.',
      'a.none.',
      'mail.',
      'alias.',
      'here.',
      'under.here.',
      'deep.under.here.',
    ];
    names.push(
      'x.deep.under.here.',
      'users.',
      'a.users.',
      'a.b.users.',
      '*.users.',
      'sub.',
      'ns1.sub.',
      'x.y.sub.',
      'big.',
    );
    const types = [
      QueryType.A,
      QueryType.AAAA,
      QueryType.MX,
      QueryType.TXT,
      QueryType.NS,
      QueryType.SOA,
      QueryType.CNAME,
    ];
    for (const name of names)
      for (const type of types) {
        const packet = query(`${name}${ZONE_NAME}`, type, 9);
        const ours = parse(Buffer.from(respond([zone], packet, false) ?? []));
        const theirs = await client.ask(packet, nsd);
        const reported = ({ rcode, answers, truncated, bytes }: typeof ours) => ({
          asked: `${name}${ZONE_NAME} ${type}`,
          rcode,
          truncated,
          authoritative: ((bytes[2] ?? 0) & 4) !== 0,
          // NSD follows a CNAME within the zone; the built-in server leaves that to the resolver.
          answers: name === 'alias.' ? Math.min(answers, 1) : answers,
        });
        expect(reported(ours)).toEqual(reported(theirs));
      }
  });
});

describe('the profile and the analytics', () => {
  it('are restored after a restart', async () => {
    const file = join(folder, 'zone');
    await writeFile(file, ZONE_TEXT);
    const store = DnsStore.open(folder);
    const first = await guard([{ name: ZONE_NAME, file }], store);
    for (let i = 0; i < 100; i++)
      first.detector.decide(questionOf(`x${i}.example.test`, 1, first.detector.key), Date.now());
    const names = first.detector.profile.size;
    await first.stop();
    await store.close();

    const again = DnsStore.open(folder);
    const second = await guard([], again);
    atEnd(
      () => again.close(),
      () => second.stop(),
    );
    expect(second.detector.key).toEqual(first.detector.key);
    expect(second.detector.profile.size).toBe(names);
    expect(knows(second, 'www.example.test')).toBe(true);
    const minute = Math.floor(Date.now() / 60_000);
    const seen = [...again.range(RULE.id, minute - 20, minute + 1)];
    expect(seen.flatMap(({ verdicts }) => verdicts).reduce((sum, [, queries]) => sum + queries, 0)).toBe(100);
  });
});

describe('an attack', () => {
  it('continues after a kill with its thresholds, even if the names were saved long before', async () => {
    const store = DnsStore.open(folder);
    const file = join(folder, 'zone');
    await writeFile(file, ZONE_TEXT);
    const startedMs = Date.now();
    const detector = new AttackDetector({ high: 1, low: 2 }, { profile: { maxNames: 10_000 } }, startedMs);
    const minute = Math.floor(startedMs / 60_000);
    const rates = Array.from({ length: 600 }, (_, i) => [minute - 600 + i, 5000] as const);
    detector.restore({ hashKey: detector.key, savedMs: startedMs, rates, zones: [] }, startedMs);
    const seed = new ZoneSeed({ zone: ZONE_NAME }, { detector });
    for (const { owner, type } of readMasterFile(ZONE_TEXT, ZONE_NAME)) seed.add(owner, type);
    seed.finish();
    await store.save(detector.learned(startedMs), detector.profile.entries());

    const first = await guard([{ name: ZONE_NAME, file }], store);
    expect(first.detector.attack).toBe(false);
    const flood = ({ detector: flooded }: Guard): void => {
      for (let i = 0; i < 2000; i++)
        flooded.decide(questionOf(`x${i}.example.test`, 1, flooded.key), Date.now());
    };
    flood(first);
    expect(first.detector.attack).toBe(true);
    await until(
      'the attack to be stored',
      () => store.load()?.learned.zones.some(({ attacked }) => attacked) ?? false,
    );
    // A copy of the state that a kill would leave, because the first run continues.
    const left = store.load();
    if (left === undefined) throw new Error('the store is empty');
    const profileStore = { load: () => left, save: async () => {}, saveLearned: async () => {} };
    const { guard: next, stop } = await startGuardInFront(RULE, {
      zones: [{ name: ZONE_NAME, file }],
      seed: false,
      profileStore,
    });
    // No query has been received yet.
    expect(next.detector.attack).toBe(true);
    expect(next.detector.zones.get(ZONE_NAME)?.attacked(Date.now())).toBe(true);
    expect(next.detector.history.threshold).toEqual({ ratePerSecond: 5000, burst: 25_000 });
    expect(next.detector.ready).toBe(true);
    expect(next.detector.profile.size).toBeGreaterThan(200);
    await stop();
    await first.stop();
    await store.close();
  });
});

describe('DnsStore', () => {
  it('keeps minutes for seven days, and adds up a minute that is stored twice', async () => {
    const store = DnsStore.open(folder);
    atEnd(() => store.close());
    const record = (minute: number, queries: number) => ({
      ruleId: RULE.id,
      minute,
      verdicts: [[25, queries]] as [number, number][],
      profileNames: 1,
      ratePerSecond: 100,
      burst: 500,
      attackedZones: [],
    });
    const week = 7 * 24 * 60;
    await store.append([record(1000, 1), record(1001, 2)]);
    await store.append([record(1001, 3)]);
    expect([...store.range(RULE.id, 0, 5000)].map(({ verdicts }) => verdicts)).toEqual([
      [[25, 1]],
      [[25, 5]],
    ]);
    await store.append([record(1001 + week, 4)]);
    expect([...store.range(RULE.id, 0, 50_000)].map(({ minute }) => minute)).toEqual([1001, 1001 + week]);
    expect([...store.range('another', 0, 50_000)]).toEqual([]);
  });

  it('replaces all stored names, whether there are more or fewer than before', async () => {
    const store = DnsStore.open(folder);
    atEnd(() => store.close());
    const learned = { hashKey: { high: 1, low: 2 }, savedMs: 6, rates: [], zones: [] };
    const names = (count: number) =>
      Array.from({ length: count }, (_, i) => [i + 1, i, 7, 0xffff0000] as const);
    expect(store.load()).toBeUndefined();
    for (const count of [10_000, 3, 0, 4096]) {
      await store.save(learned, names(count));
      expect([...(store.load()?.entries ?? [])]).toEqual(names(count));
      expect(store.load()?.learned).toEqual(learned);
    }
    const later = { ...learned, savedMs: 7 };
    await store.saveLearned(later);
    expect(store.load()?.learned).toEqual(later);
    expect([...(store.load()?.entries ?? [])]).toEqual(names(4096));
  });
});
