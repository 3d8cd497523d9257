/** Behaviour of dnsdist without Floodgate, before Floodgate has seen any traffic, and without dnstap frames. */
import { access, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { DnsdistConsole } from '../../src/dns/dataplane/dnsdist/index.ts';
import { PendingTimes, ResponseTimes } from '../../src/dns/dataplane/index.ts';
import { verdictOf } from '../../src/dns/detector/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import type { Rule } from '../../src/rules/index.ts';
import { freePort } from '../support/freePort.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient } from './support/clients.ts';
import { query, type UdpClient } from './support/dnsClient.ts';
import { waitUntilInForce } from './support/dnsdistInFront.ts';
import { type DriveOptions, driveDnsdist } from './support/driveDnsdist.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noDnsdist, type RealDnsdist, startDnsdist } from './support/realDnsdist.ts';

const LOOPBACK = '127.0.0.1';
let dnsdist: RealDnsdist;
let client: UdpClient;
let consoleOf: DnsdistConsole;

beforeEach(async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  atEnd(() => server.stop());
  dnsdist = await startDnsdist(server);
  await writeFile(join(dnsdist.folder, 'zone'), ZONE_TEXT);
  atEnd(() => dnsdist.stop());
  client = await openUdpClient();
  consoleOf = new DnsdistConsole(dnsdist.console, dnsdist.key);
  atEnd(() => consoleOf.close());
});

afterEach(() => vi.restoreAllMocks());

function optionsOf(rule: Rule): DriveOptions {
  const { key, dnstap, folder } = dnsdist;
  return {
    rules: new TestRules([rule]),
    consoles: [dnsdist.console],
    key,
    dnstap,
    folder,
    zones: [{ name: ZONE_NAME, file: join(folder, 'zone') }],
    detector: { profile: { maxNames: 10_000 } },
  };
}

async function driven(rule: Rule, options: Partial<DriveOptions> = {}) {
  const guard = await driveDnsdist({ ...optionsOf(rule), ...options });
  await guard.seeding.tried;
  await until('the rules to be in force', () => guard.dataPlane.hasRules());
  return guard;
}

/** Sends unknown names until dnsdist has dropped at least this many. A known name is answered in each round. */
async function floodUntilDropped(least: number): Promise<void> {
  const dropped = async () =>
    Number(/floodgate-dropped-unknownName\s+(\d+)/.exec(await consoleOf.run('showRules()'))?.[1] ?? 0);
  for (let round = 0; (await dropped()) < least; round++) {
    for (let i = 0; i < 100; i++) client.send(query(`x${round}-${i}.${ZONE_NAME}`, 1, 10_000 + i), dnsdist);
    expect(await client.ask(query(`h${round % 200}.${ZONE_NAME}`, 1, 1), dnsdist)).toMatchObject({
      answers: 1,
    });
    if (round > 200) throw new Error(await consoleOf.run('showRules()'));
  }
}

it('dnsdist applies its last rules and names after a restart without Floodgate', async () => {
  const guard = await driven(RULE);
  await guard.stop();
  consoleOf.close();
  const output = await dnsdist.restart();
  expect(output).toContain('loaded the last rules');
  await floodUntilDropped(500);
});

it('dnsdist limits a flood from its first second at sensitivity low, before Floodgate has seen the flood', async () => {
  const guard = await driven({ ...RULE, profile_sensitivity: 'low' });
  expect(guard.detector.attack).toBe(false);
  await guard.stop();
  await floodUntilDropped(500);
});

it('dnsdist starts with any content of the rules file, and executes none of it', async () => {
  const guard = await driven(RULE);
  await guard.stop();
  const marker = join(dnsdist.folder, 'marker');
  const lua = `os.execute("touch ${marker}")`;
  const hex = (text: string): string => Buffer.from(text).toString('hex');
  const head = 'floodgate rules 1';
  const tag = `${hex('n')} tag ${hex('a')} ${hex('b')}`;
  const files = [
    lua,
    `${head}\n${lua}`,
    `${head}\n${tag} ${lua}`,
    `${head}\n${hex('n')} ${lua} unknown`,
    `${head}\n${hex('n')} execute unknown`,
    `${head}\n${hex(`"..${lua}.."`)} tag ${hex(`"..${lua}.."`)} - tagged ${hex(`"..${lua}.."`)} *`,
    `${head}\n${tag} and 4294967295 unknown`,
    `${head}\n${tag} names 1 ${hex(`\\"..${lua}`)}`,
    `${head}\n${tag} names 1 ${hex('a'.repeat(300))}`,
    `${head}\n${tag} type 1e999`,
    `${head}\n${tag} beyond - -1 5`,
    `${head}\n${tag} ${'not '.repeat(100_000)}unknown`,
    `${head}\n${tag} __index`,
    `${head}\n${tag}`,
    `${head}\n\0\0\0`,
    'floodgate rules 2\n',
    '',
    Buffer.alloc(5 * 1024 * 1024, 'a'),
  ];
  for (const file of files) {
    await writeFile(join(dnsdist.folder, 'rules'), file);
    await dnsdist.restart();
    consoleOf.close();
    expect(await consoleOf.run('showRules()')).toContain('floodgate-tap');
    for (let i = 0; i < 5; i++) await client.ask(query(`y${i}.${ZONE_NAME}`, 1, i), dnsdist);
  }
  await expect(access(marker)).rejects.toThrow('ENOENT');
});

it.each([
  [
    'has servers only in another pool',
    'rmServer(0) newServer({address="127.0.0.1:1",pool="auth"})',
    'none in the default pool',
  ],
  ['has no logger of dnstap', 'floodgateTap=nil', 'does not set floodgateTap'],
  ['logs queries, but no answers', 'rmResponseRule(0)', 'no addResponseAction that logs answers'],
])('dnsdist keeps its own rules if it %s, and Floodgate logs the reason', async (_what, change, reason) => {
  const own = 'newRuleAction(AllRule(),RCodeAction(DNSRCode.REFUSED),{name="own"})';
  await consoleOf.run(`${change} setRules({${own}})`);
  const warnings: object[] = [];
  const guard = await driveDnsdist({
    ...optionsOf(RULE),
    log: { ...QUIET, warn: (fields) => void warnings.push(fields) },
  });
  atEnd(() => guard.stop());
  await until('the rules to be rejected', () => warnings.length > 0);
  expect(warnings).toEqual([{ node: expect.any(String), reason: expect.stringContaining(reason) }]);
  expect(guard.dataPlane.hasRules()).toBe(false);
  expect(await consoleOf.run('showRules()')).toContain('own');
});

it('the log states that names cannot be written, and that they are written again', async () => {
  const messages: string[] = [];
  const note = (_fields: object, message: string) => void messages.push(message);
  const rules = new TestRules([RULE]);
  const guard = await driven(RULE, { rules, log: { ...QUIET, info: note, warn: note } });
  atEnd(() => guard.stop());
  const { folder } = dnsdist;
  await rename(folder, `${folder}.moved`);
  const failed = 'cannot write the known names; dnsdist keeps the last ones';
  rules.set({ ...RULE, mode: 'monitoring' });
  await until('the failure', () => messages.includes(failed));
  await rename(`${folder}.moved`, folder);
  rules.set(RULE);
  await until('the success', () => messages.includes('the known names are written again'));
  expect(messages.filter((message) => message === failed)).toHaveLength(1);
});

it('answers from the packet cache of dnsdist do not make its servers unhealthy', async () => {
  const guard = await driven(RULE);
  atEnd(() => guard.stop());
  const answered = vi.spyOn(ResponseTimes.prototype, 'answered');
  const unanswered = vi.spyOn(ResponseTimes.prototype, 'unanswered');
  let id = 0;
  const ask = (name: string) => client.ask(query(`${name}.${ZONE_NAME}`, 1, ++id), dnsdist);
  // dnsdist discards dnstap frames until it has connected to Floodgate.
  await until('an answer to be counted', async () => (await ask('www')) && answered.mock.calls.length > 0);
  await consoleOf.run('getPool(""):setCache(newPacketCache(1000))');
  for (let n = 0; n < 100; n++) await ask('h0');
  expect(await consoleOf.run('getPool(""):getCache():printStats()')).toContain('Hits: 99');
  // A query counts as unanswered in the first check that follows a report from half a second later.
  const checks = vi.spyOn(PendingTimes.prototype, 'expire');
  await until('checks with later reports', async () => (await ask('www')) && checks.mock.calls.length >= 3);
  expect(unanswered).not.toHaveBeenCalled();
});

it('dnsdist counts every query itself, without any dnstap frame', async () => {
  const rules = new TestRules([RULE]);
  const guard = await driven(RULE, { rules, dnstap: { host: LOOPBACK, port: await freePort() } });
  atEnd(() => guard.stop());
  const { dataPlane, stats } = guard;
  const received = async (): Promise<number> =>
    Number(await consoleOf.run('return tostring(getStatisticsCounters()["queries"])'));
  const sum = (counts: Float64Array): number => counts.reduce((a, b) => a + b, 0);
  await dataPlane.count();
  const before = { received: await received(), counted: sum(dataPlane.verdicts()) };
  const flood = async (mark: string): Promise<void> => {
    for (let round = 0; round < 15; round++) {
      for (let i = 0; i < 100; i++)
        client.send(query(`${mark}${round}-${i}.${ZONE_NAME}`, 1, 10_000 + i), dnsdist);
      await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dnsdist);
    }
  };
  await flood('a');
  rules.set({ ...RULE, mode: 'monitoring' });
  await waitUntilInForce(guard, rules);
  await flood('b');
  await until('all queries to be counted', async () => {
    await dataPlane.count();
    return sum(dataPlane.verdicts()) - before.counted === (await received()) - before.received;
  });
  const count = (outcome: Parameters<typeof verdictOf>[0]): number =>
    dataPlane.verdicts()[verdictOf(outcome, outcome === 'passed' ? 'none' : 'unknownName')] ?? 0;
  expect(count('passed')).toBeGreaterThanOrEqual(30);
  expect(count('paid')).toBeGreaterThanOrEqual(500);
  expect(count('dropped')).toBeGreaterThan(100);
  expect(count('wouldDrop')).toBeGreaterThan(100);
  stats.collect(Date.now());
  expect(sum(stats.totals.get(RULE.id) ?? new Float64Array())).toBe(sum(dataPlane.verdicts()));
  // The counters of a restarted dnsdist begin at zero; they are added to the total.
  const total = sum(dataPlane.verdicts());
  await dnsdist.restart();
  await client.ask(query(`www.${ZONE_NAME}`, 1, 1), dnsdist);
  await until('counting to continue after the restart', async () => {
    await dataPlane.count();
    return sum(dataPlane.verdicts()) > total;
  });
  expect(sum(dataPlane.verdicts())).toBeLessThan(total + 100);
});
