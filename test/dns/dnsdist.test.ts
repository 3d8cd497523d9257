import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { DnsdistConsole } from '../../src/dns/dataplane/dnsdist/index.ts';
import { type AccessLists, NO_LISTS } from '../../src/dns/detector/index.ts';
import { AnswerKind, nameToWire, QueryType, questionOf } from '../../src/dns/protocol/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { parseNetwork } from '../../src/platform/addresses/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient } from './support/clients.ts';
import { askTcp, query, RCODE } from './support/dnsClient.ts';
import {
  countLimited,
  floodUntil,
  floodWith,
  type Running,
  startDnsdistGuard,
  startDnsdistGuardWith,
  waitUntilInForce,
  waitUntilStable,
} from './support/dnsdistInFront.ts';
import { driveDnsdist } from './support/driveDnsdist.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { startProgram } from './support/program.ts';
import { noDnsdist, type RealDnsdist, startDnsdist } from './support/realDnsdist.ts';

const LOOPBACK = '127.0.0.1';
const RESEND_MS = 2000;

const ruleIds = (table: string): string[] => table.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? [];

const matched = async ({ guard }: Running) => (await countLimited(guard, 'unknownName')) > 200;

describe('the dnsdist driver', () => {
  it("drops unknown names above the bucket's rate, and answers known names in any case and every query over TCP", async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard(RULE);
    await floodUntil(all, () => matched(all));
    for (let i = 0; i < 200; i++) {
      const answer = await all.client.ask(query(`H${i}.ExAmPlE.test`, 1, i), all.dnsdist, 5000);
      expect(answer).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
    }
    expect((await askTcp([query(`x.${ZONE_NAME}`)], all.dnsdist))[0]).toMatchObject({
      rcode: RCODE.NXDOMAIN,
    });
    await floodUntil(all, async () => all.guard.detector.attack);
  });

  it('applies access lists with and without a rule, and their changes', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    let wanted: AccessLists = {
      networks: [
        { network: parseNetwork('127.0.0.0/8'), access: 'deny' },
        { network: parseNetwork('127.0.0.1'), access: 'allow' },
      ],
      names: [{ name: `WWW.${ZONE_NAME}`, access: 'deny' }],
    };
    let changed = (): void => {};
    const { client, dnsdist, guard, rules } = await startDnsdistGuardWith([], {
      read: async () => wanted,
      onChange: (listener) => {
        changed = listener;
        return () => {};
      },
    });
    const other = await openUdpClient('127.0.0.5');
    const [www, h1] = ['www', 'h1'].map((name, id) => query(`${name}.${ZONE_NAME}`, QueryType.A, id + 1));
    if (!www || !h1) throw new Error('expected two queries');
    await waitUntilInForce(guard, rules);
    // An allowed client is answered for every name; a denied client receives no answer.
    for (const packet of [h1, www])
      expect(await client.ask(packet, dnsdist)).toMatchObject({ rcode: RCODE.NOERROR });
    other.send(h1, dnsdist);
    expect(await client.ask(h1, dnsdist)).toMatchObject({ rcode: RCODE.NOERROR });
    expect(other.answers.size).toBe(0);
    wanted = { networks: [], names: wanted.names };
    changed();
    await until('the changed lists to be read', () => guard.detector.accessLists === wanted);
    await waitUntilInForce(guard, rules);
    expect(await other.ask(h1, dnsdist)).toMatchObject({ rcode: RCODE.NOERROR });
    expect(await askTcp([www, h1], dnsdist)).toMatchObject([
      { rcode: RCODE.REFUSED },
      { rcode: RCODE.NOERROR },
    ]);
    wanted = NO_LISTS;
    changed();
    expect(await other.ask(www, dnsdist)).toMatchObject({ rcode: RCODE.NOERROR });
  });

  it('charges known names with unknown types at sensitivity high, and never known types', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard({ ...RULE, profile_sensitivity: 'high' });
    const matched = () => countLimited(all.guard);
    await waitUntilInForce(all.guard, all.rules);
    // Names of a zone are known with A, AAAA, HTTPS and NS in addition to their own types; TXT is none of these.
    await floodWith(
      all,
      { type: QueryType.TXT, nameOf: (n) => `h${n % 100}` },
      async () => (await matched()) >= 200,
    );
    for (const [i, type] of [QueryType.A, QueryType.AAAA, QueryType.HTTPS, QueryType.NS].entries()) {
      const before = await waitUntilStable(matched);
      for (let j = 0; j < 100; j++) {
        const answer = await all.client.ask(query(`H${j}.ExAmPlE.test`, type, i * 100 + j), all.dnsdist);
        expect(answer?.rcode).toBe(RCODE.NOERROR);
      }
      expect(await matched()).toBe(before);
    }
    // Unknown names are charged too, and a change to medium applies at once.
    const before = await waitUntilStable(matched);
    await floodWith(
      all,
      { type: QueryType.A, nameOf: (n) => `x${n}` },
      async () => (await matched()) > before,
    );
    all.rules.set(RULE);
    await waitUntilInForce(all.guard, all.rules);
    for (let j = 0; j < 200; j++) {
      const answer = await all.client.ask(query(`h${j}.${ZONE_NAME}`, QueryType.TXT, j), all.dnsdist);
      expect(answer?.rcode).toBe(RCODE.NOERROR);
    }
  });

  it('answers known names with unknown types during a flood of unknown names at sensitivity high', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard({ ...RULE, profile_sensitivity: 'high' });
    const { client, dnsdist } = all;
    await waitUntilInForce(all.guard, all.rules);
    await floodUntil(all, () => matched(all));
    const { CAA, MX, TXT, DS, SRV, SOA, TLSA, SVCB } = QueryType;
    const types = [CAA, MX, TXT, DS, SRV, SOA, TLSA, SVCB];
    const asked = Array.from({ length: 90 }, (_, n) => 101 + n);
    for (const id of asked) {
      for (let j = 0; j < 50; j++)
        client.send(query(`z${id}-${j}.${ZONE_NAME}`, 1, 10_000 + id * 50 + j), dnsdist);
      client.send(query(`h${id}.${ZONE_NAME}`, types[id % types.length] ?? TXT, id), dnsdist);
      // A query that needs no token, so that the flood is not faster than dnsdist.
      await client.ask(query(`www.${ZONE_NAME}`, 1, 9_999), dnsdist);
    }
    const answered = (): number => asked.filter((id) => client.answers.has(id)).length;
    await client.wait(() => answered() === asked.length, RESEND_MS);
    // A busy machine may lose a packet.
    expect(answered()).toBeGreaterThan(80);
  });

  it('charges every query for a known name above its usual rate at sensitivity very_high', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard({ ...RULE, profile_sensitivity: 'very_high' });
    const matched = () => countLimited(all.guard);
    await waitUntilInForce(all.guard, all.rules);
    await floodWith(all, { type: QueryType.A, nameOf: () => 'h1' }, async () => (await matched()) >= 200);
    const before = await waitUntilStable(matched);
    for (let j = 0; j < 20; j++) {
      const answer = await all.client.ask(query(`h2.${ZONE_NAME}`, QueryType.A, j), all.dnsdist);
      expect(answer?.rcode).toBe(RCODE.NOERROR);
    }
    expect(await matched()).toBe(before);
  });

  it('applies a changed rule, and removes a deleted one', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard({ ...RULE, mode: 'monitoring' });
    await floodUntil(all, () => matched(all));
    const console = new DnsdistConsole(all.dnsdist.console, all.dnsdist.key);
    atEnd(() => console.close());
    const shows = (what: string, wanted: (table: string) => boolean) =>
      until(what, async () => wanted(await console.run('showRules()')));
    await shows('the rule to monitor', (table) => /floodgate-refuses.*wouldDrop/.test(table));
    all.rules.set(RULE);
    await shows('the rule to drop', (table) => /floodgate-refuses.*dropped/.test(table));
    all.rules.set();
    await shows('the rule to be removed', (table) => !table.includes('floodgate-refuses'));
  });

  it('applies a changed rule on both of two nodes, and on the remaining node after the other was stopped', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
    atEnd(() => server.stop());
    const one = await startDnsdist(server);
    atEnd(() => one.stop());
    const two = await startDnsdist(server, one);
    let twoRuns = true;
    atEnd(() => twoRuns && two.stop());
    const zoneFile = join(one.folder, 'zone');
    await writeFile(zoneFile, ZONE_TEXT);
    const rules = new TestRules([{ ...RULE, mode: 'monitoring' }]);
    const { key, dnstap, folder } = one;
    const consoles = [one.console, two.console];
    const zones = [{ name: ZONE_NAME, file: zoneFile }];
    const guard = await driveDnsdist({ rules, consoles, key, dnstap, folder, zones });
    atEnd(() => guard.stop());
    const says = async (node: RealDnsdist, wanted: RegExp): Promise<void> => {
      const console = new DnsdistConsole(node.console, key);
      while (!wanted.test(await console.run('showRules()')));
      console.close();
    };
    await Promise.all([one, two].map((node) => says(node, /floodgate-refuses.*wouldDrop/)));
    rules.set(RULE);
    await Promise.all([one, two].map((node) => says(node, /floodgate-refuses.*dropped/)));

    await two.stop();
    twoRuns = false;
    const setAt = async (): Promise<string> => {
      const console = new DnsdistConsole(one.console, key);
      const table = await console.run('showRules({showUUIDs=true})');
      console.close();
      return /floodgate-refuses +([0-9a-f-]{36})/.exec(table)?.[1] ?? `no id: ${table}`;
    };
    rules.set({ ...RULE, rate_sensitivity: 'high' });
    await says(one, /floodgate-refuses.*Max 200 /);
    const id = await setAt();
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    // The remaining node keeps its bucket, because the driver does not send unchanged rules again.
    const closed = createServer((socket) => socket.destroy());
    atEnd(() => closed.close());
    closed.listen(two.console.port, LOOPBACK);
    for (let tick = 0; tick < 3; tick++) await once(closed, 'connection');
    expect(await setAt()).toBe(id);
  });

  it('sends unchanged rules to a restarted node, and changed rules to a node that hung', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
    atEnd(() => server.stop());
    const first = await startDnsdist(server);
    atEnd(() => first.stop());
    const anew = await startDnsdist(server, first);
    atEnd(() => anew.stop());
    // One address for two nodes: the switch looks like a restart to the driver.
    let behind = first;
    const open = new Set<Socket>();
    let away = false;
    const front = createServer((socket) => {
      if (away) return void open.add(socket.on('error', () => {}));
      const onward = connect(behind.console.port, LOOPBACK);
      for (const side of [socket, onward]) open.add(side.on('error', () => {}));
      socket.pipe(onward).pipe(socket);
    }).listen(0, LOOPBACK);
    await once(front, 'listening');
    atEnd(() => front.close());
    atEnd(() => open.forEach((socket) => void socket.destroy()));
    const { port } = front.address() as AddressInfo; // it listens on TCP
    const zoneFile = join(first.folder, 'zone');
    await writeFile(zoneFile, ZONE_TEXT);
    const { key, dnstap, folder } = first;
    const rules = new TestRules([RULE]);
    const guard = await driveDnsdist({
      rules,
      consoles: [{ host: LOOPBACK, port }],
      key,
      dnstap,
      folder,
      zones: [{ name: ZONE_NAME, file: zoneFile }],
    });
    atEnd(() => guard.stop());
    const says = async (node: RealDnsdist, wanted = /floodgate-refuses/): Promise<void> => {
      const console = new DnsdistConsole(node.console, key);
      while (!wanted.test(await console.run('showRules()')));
      console.close();
    };
    await says(first);
    behind = anew;
    for (const socket of open) socket.destroy();
    await says(anew);
    // The node hangs: its open connections are not read, and new ones are accepted but not answered.
    away = true;
    for (const socket of open) socket.unpipe();
    rules.set({ ...RULE, mode: 'monitoring' });
    await until(
      'two failed attempts to reach the node',
      async () => (guard.dataPlane.nodes()[0]?.failures.unreachable ?? 0) >= 2,
    );
    expect(guard.dataPlane.hasRules()).toBe(false);
    away = false;
    await says(anew, /floodgate-refuses.*wouldDrop/);
    await waitUntilInForce(guard, rules);
  });

  it('answers a new name of a zone during an attack as soon as the zone file contains it', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard(RULE);
    await floodUntil(all, () => matched(all));
    await writeFile(`${all.zoneFile}.new`, `${ZONE_TEXT}\nfresh A 192.0.2.7\n`);
    await rename(`${all.zoneFile}.new`, all.zoneFile);
    await floodUntil(all, async () => {
      all.client.send(query(`fresh.${ZONE_NAME}`, 1, 2), all.dnsdist);
      return all.client.wait(() => all.client.answers.has(2), 50);
    });
  });

  it('drops no names of a zone that is not read yet, while it protects the seeded zone', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const late = 'late.test';
    const zones = [new ZoneData(ZONE_TEXT, ZONE_NAME), new ZoneData(ZONE_TEXT, late)];
    const server = await serveZones(zones, LOOPBACK, 0);
    atEnd(() => server.stop());
    const dnsdist = await startDnsdist(server);
    atEnd(() => dnsdist.stop());
    const open = new Set<Socket>();
    const silent = createServer((socket) => void open.add(socket.on('error', () => {}))).listen(0, LOOPBACK);
    await once(silent, 'listening');
    atEnd(
      () => silent.close(),
      () => open.forEach((socket) => void socket.destroy()),
    );
    const { port } = silent.address() as AddressInfo; // it listens on TCP
    const zoneFile = join(dnsdist.folder, 'zone');
    await writeFile(zoneFile, ZONE_TEXT);
    const guard = await driveDnsdist({
      rules: new TestRules([RULE]),
      consoles: [dnsdist.console],
      key: dnsdist.key,
      dnstap: dnsdist.dnstap,
      folder: dnsdist.folder,
      zones: [
        { name: late, transferFrom: { host: LOOPBACK, port } },
        { name: ZONE_NAME, file: zoneFile },
      ],
    });
    atEnd(() => guard.stop());
    const client = await openUdpClient();
    const all = { dnsdist, guard, rules: new TestRules([RULE]), client, zoneFile };
    await floodUntil(all, () => matched(all));
    expect(guard.seeding.missing().map(({ zone }) => zone)).toEqual([late]);
    // The bucket stays empty, so nearly every query that needed a token would be dropped.
    let [sent, resent] = [0, 0];
    for (let i = 0; i < 100; i++) {
      for (let j = 0; j < 50; j++, sent++)
        client.send(query(`y${sent}.${ZONE_NAME}`, 1, 10_000 + sent), dnsdist);
      client.answers.delete(i);
      for (; ; resent++) {
        client.send(query(`h${i}.${late}`, 1, i), dnsdist);
        if (await client.wait(() => client.answers.has(i), RESEND_MS)) break;
      }
    }
    // A busy machine may lose a packet.
    expect(resent).toBeLessThan(10);
  });

  it('leaves the last state in dnsdist after it stopped, and never installs an empty profile', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard(RULE);
    await floodUntil(all, () => matched(all));
    await all.guard.stop();
    const console = new DnsdistConsole(all.dnsdist.console, all.dnsdist.key);
    atEnd(() => console.close());
    const count = async () =>
      Number(/floodgate-dropped-unknownName\s+(\d+)/.exec(await console.run('showRules()'))?.[1] ?? 0);
    const before = await count();
    await floodUntil(all, async () => (await count()) > before + 200);
    expect(await all.client.ask(query(`h7.${ZONE_NAME}`, 1, 3), all.dnsdist)).toMatchObject({ answers: 1 });
  });

  it('publishes the known names at once without the names of a forgotten zone', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const { dnsdist, guard, rules } = await startDnsdistGuard(RULE);
    const name = `learned.${ZONE_NAME}`;
    const asked = questionOf(name, QueryType.A, guard.detector.key);
    for (const network of [1, 2])
      guard.detector.learn(asked, { kind: AnswerKind.records, network }, Date.now());
    guard.dataPlane.nameSeeded(nameToWire(name));
    await waitUntilInForce(guard, rules);
    const labels = async () =>
      (await readFile(join(dnsdist.folder, 'known.cdb'), 'latin1')).split('\x07learned');
    await until('the name to be published', async () => (await labels()).length > 1);
    guard.forget(ZONE_NAME);
    await until('the name to be removed', async () => (await labels()).length === 1);
    expect(guard.dataPlane.knownNames()).toBeGreaterThan(200);
  });

  it('is started by `floodgate start`, leaves dnsdist protected after SIGKILL, and takes over at the next start', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
    atEnd(() => server.stop());
    const dnsdist = await startDnsdist(server);
    atEnd(() => dnsdist.stop());
    const zoneFile = join(dnsdist.folder, 'zone');
    await writeFile(zoneFile, ZONE_TEXT);
    const dataDir = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    atEnd(() => rm(dataDir, { recursive: true, force: true }));
    const start = () =>
      startProgram(
        dataDir,
        server,
        '--dns-dnsdist-consoles',
        `${dnsdist.console.host}:${dnsdist.console.port}`,
        '--dns-dnsdist-key',
        dnsdist.key,
        '--dns-dnsdist-folder',
        dnsdist.folder,
        '--dns-dnstap-listen',
        `${dnsdist.dnstap.host}:${dnsdist.dnstap.port}`,
        '--dns-zones',
        `${ZONE_NAME}=${zoneFile}`,
      );
    const console = new DnsdistConsole(dnsdist.console, dnsdist.key);
    atEnd(() => console.close());
    const table = () => console.run('showRules()');
    const hits = async () => Number(/floodgate-dropped-unknownName\s+(\d+)/.exec(await table())?.[1] ?? 0);
    const client = await openUdpClient();
    const flood = async (): Promise<void> => {
      for (let i = 0; i < 200; i++)
        client.send(query(`x${Math.random()}.${ZONE_NAME}`, 1, 10_000 + i), dnsdist);
      await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dnsdist);
    };

    const first = await start();
    const { mode, profile_sensitivity, rate_sensitivity, burst_sensitivity } = RULE;
    const rule = {
      scope: 'global',
      name: 'global',
      mode,
      profile_sensitivity,
      rate_sensitivity,
      burst_sensitivity,
    };
    const created = await first.api('POST', '', rule);
    expect(created.status).toBe(200);
    while ((await hits()) < 200) await flood();
    await first.kill();
    const before = await hits();
    while ((await hits()) < before + 200) await flood();

    const next = await start();
    atEnd(() => next.stop());
    expect((await next.api('DELETE', `/${created.json.result.id}`)).status).toBe(200);
    while ((await table()).includes('floodgate-refuses'));
  });

  it('publishes the names that an earlier run learned', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const { dnsdist, guard, rules } = await startDnsdistGuard(RULE);
    await guard.stop();
    const store = DnsStore.open(dnsdist.folder);
    const parts = { rules, consoles: [dnsdist.console], key: dnsdist.key, dnstap: dnsdist.dnstap };
    const zones = [{ name: ZONE_NAME, file: join(dnsdist.folder, 'zone') }];
    const first = await driveDnsdist({ ...parts, folder: dnsdist.folder, zones, profileStore: store });
    await first.seeding.tried;
    const names = first.dataPlane.knownNames();
    await first.stop();
    const second = await driveDnsdist({ ...parts, folder: dnsdist.folder, profileStore: store });
    atEnd(
      () => store.close(),
      () => second.stop(),
    );
    expect(names).toBeGreaterThan(200);
    expect(second.dataPlane.knownNames()).toBe(names);
  });

  it('protects with the names in the file if the profile is lost, and with the names that dnsdist holds if the file is lost, too', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const all = await startDnsdistGuard(RULE);
    const { dnsdist, guard, rules, client } = all;
    await floodUntil(all, () => matched(all));
    const names = guard.dataPlane.knownNames();
    await guard.stop();
    // Without a profile store and without zones, as after a kill for names learned since the last save.
    const parts = { rules, consoles: [dnsdist.console], key: dnsdist.key, dnstap: dnsdist.dnstap };
    for (const lost of ['profile', 'names, too'] as const) {
      if (lost === 'names, too') await rm(join(dnsdist.folder, 'known.cdb'));
      const next = await driveDnsdist({ ...parts, folder: dnsdist.folder });
      let stopped = false;
      atEnd(() => stopped || next.stop());
      expect(next.dataPlane.knownNames()).toBe(lost === 'profile' ? names : 0);
      await waitUntilInForce(next, rules);
      // A changed rule resets the counters, so later matches prove that dnsdist still has its names.
      rules.set({ ...RULE, rate_sensitivity: 'low', mode: 'monitoring' });
      await waitUntilInForce(next, rules);
      rules.set(RULE);
      await waitUntilInForce(next, rules);
      await floodUntil({ ...all, guard: next }, async () => (await countLimited(next, 'unknownName')) > 200);
      for (let i = 0; i < 100; i++)
        expect(await client.ask(query(`h${i}.${ZONE_NAME}`, 1, i), dnsdist, 5000)).toMatchObject({
          answers: 1,
        });
      await next.stop();
      stopped = true;
    }
  });

  it('reports a node that does not run the rules that were sent, and applies them as soon as the node does', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const { dnsdist, guard: first, rules } = await startDnsdistGuard(RULE);
    await waitUntilInForce(first, rules);
    await first.stop();
    const console = new DnsdistConsole(dnsdist.console, dnsdist.key);
    atEnd(() => console.close());
    await console.run('floodgateInForce=nil kept=newRuleAction newRuleAction=nil');
    const before = await console.run('showRules({showUUIDs=true})');
    const warnings: string[] = [];
    const folder = join(dnsdist.folder, 'moved');
    await mkdir(folder);
    const zoneFile = join(folder, 'zone');
    await writeFile(zoneFile, `${ZONE_TEXT}\nmoved A 192.0.2.8\n`);
    const guard = await driveDnsdist({
      rules,
      consoles: [dnsdist.console],
      key: dnsdist.key,
      dnstap: dnsdist.dnstap,
      folder,
      zones: [{ name: ZONE_NAME, file: zoneFile }],
      log: { ...QUIET, warn: (fields, text) => void warnings.push(`${JSON.stringify(fields)} ${text}`) },
    });
    atEnd(() => guard.stop());
    const registry = new Registry();
    guard.dataPlane.registerMetrics(registry);
    const node = `node="${dnsdist.console.host}:${dnsdist.console.port}"`;
    await until('two refused attempts', async () => (guard.dataPlane.nodes()[0]?.failures.refused ?? 0) >= 2);
    expect(guard.dataPlane.hasRules()).toBe(false);
    expect(await registry.metrics()).toContain(`floodgate_dns_dnsdist_in_force{${node}} 0`);
    expect(await registry.metrics()).toMatch(
      new RegExp(`floodgate_dns_dnsdist_failures_total\\{${node},failure="refused"\\} [2-9]`),
    );
    // One warning for the rules without the names, which are loaded later, and one for the rules with them.
    const reported = warnings.filter((line) => line.includes('newRuleAction') && line.includes('last ones'));
    expect([1, 2]).toContain(reported.length);
    expect(new Set(reported).size).toBe(reported.length);
    expect(ruleIds(await console.run('showRules({showUUIDs=true})'))).toEqual(ruleIds(before));
    await console.run('newRuleAction=kept');
    await waitUntilInForce(guard, rules);
    expect(await registry.metrics()).toContain(`floodgate_dns_dnsdist_in_force{${node}} 1`);
    // dnsdist reads the names from the folder that is configured now.
    await until('dnsdist to read the new folder', async () =>
      /[0-9a-f]{4}/.test(
        await console.run(`return floodgateKnown:lookup(newDNSName("moved.${ZONE_NAME}"):toDNSString())`),
      ),
    );
  });

  it('explains a wrong console key in the error message', async (ctx) => {
    if (noDnsdist) return ctx.skip(noDnsdist);
    const { dnsdist } = await startDnsdistGuard();
    const console = new DnsdistConsole(dnsdist.console, Buffer.alloc(32, 7).toString('base64'));
    atEnd(() => console.close());
    await expect(console.run('showRules()')).rejects.toThrow(/check that its setKey\(\) matches/);
  });
});
