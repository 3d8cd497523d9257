/** Assessments of zones from the API and the commands of a running server, and guards that forget a zone. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { AttackDetector, type ProfileEntry } from '../../src/dns/detector/index.ts';
import { questionOf } from '../../src/dns/protocol/index.ts';
import { DnsStore } from '../../src/dns/store/lmdb/index.ts';
import { openRulesStorage } from '../../src/rules/store/lmdb/index.ts';
import { shellBlocksOf } from '../docs/support/commands.ts';
import { Conformance } from '../rules/support/conformance.ts';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { query, UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { ACCOUNT, type Program, startProgram, TOKEN } from './support/program.ts';

const run = promisify(execFile);
const POLICY = '5f0c9a0e-3f0e-4c56-9a53-6a4d5a5f7f11';
const QUERIES = 20;

let folder: string;
let server: AuthorityServer;
let program: Program;
let client: UdpClient;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  await writeFile(join(folder, 'zone'), ZONE_TEXT);
  server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  client = await new UdpClient().open();
  program = await startProgram(folder, server, '--dns-zones', `${ZONE_NAME}=${join(folder, 'zone')}`);
});
afterAll(async () => {
  client?.close();
  await program?.stop();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const assessments = async (parameters = '') => program.api('GET', `/../zone_assessments${parameters}`);
const queries = async (): Promise<number> =>
  (await assessments(`?zone=${ZONE_NAME}`)).json.result[0]?.day.queries ?? 0;
/** Sends queries until the zone has enough. The guard may still forget those of before: it looks once a second. */
const countQueries = (): Promise<unknown> =>
  until('the queries to be counted', async () => {
    for (let i = 0; i < QUERIES; i++) await client.ask(query(`www.${ZONE_NAME}`, 1, 1 + i), program.dns);
    return (await queries()) >= QUERIES;
  });
const floodgate = async (words: readonly string[], account = ACCOUNT): Promise<string> => {
  const env = {
    ...process.env,
    FLOODGATE_URL: program.url,
    FLOODGATE_ACCOUNT: account,
    FLOODGATE_TOKEN: TOKEN,
  };
  return (await run(process.execPath, [PROGRAM, ...words], { env })).stdout;
};

it('a zone with queries is assessed, as the OpenAPI document describes and the command prints', async () => {
  await countQueries();
  const answer = await assessments();
  expect(answer.json.result[0].known_names).toBeGreaterThan(200);
  expect(answer.json.result).toMatchObject([
    { zone: ZONE_NAME, assessment: 'still_learning', judged_by: 'names', names: [], networks: [] },
  ]);
  const base = `/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection`;
  const document = (await (await fetch(`${program.url}/client/v4/openapi.json`)).json()) as never;
  expect(new Conformance(document).faultsOf('GET', `${base}/zone_assessments`, answer)).toEqual([]);
  expect(await floodgate(['dns', 'zones'])).toMatch(
    /ZONE +ASSESSMENT.*\nexample\.test +still learning +names +medium +medium +\d+ +0\.00 % +0\.00 % +0\.00 % +- +-/,
  );
  expect(JSON.parse(await floodgate(['dns', 'zones', ZONE_NAME, '--json']))).toEqual(
    expect.objectContaining({ zone: ZONE_NAME, assessment: 'still_learning' }),
  );
  expect(await floodgate(['dns', 'zones', 'example.org'])).toContain('no query for such a zone');
});

it('the commands in the page on assessments run', async () => {
  await program.api('POST', '/../zones', { zone: ZONE_NAME });
  const blocks = shellBlocksOf('docs/reference/zone-assessments.md');
  const scripts = blocks.filter(({ mark }) => mark?.kind === 'run by').map(({ script }) => script);
  const commands = scripts.join('\n').replaceAll('example.com', ZONE_NAME).split('\n');
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const [program = '', ...words] = command.split(' ');
    expect(program).toBe('floodgate');
    expect(await floodgate(words)).toContain(ZONE_NAME);
  }
});

it('an account without a guard gets 404 and a hint', async () => {
  await expect(floodgate(['dns', 'zones'], 'other')).rejects.toMatchObject({
    stderr: expect.stringContaining('no DNS guard for account other'),
  });
});

it('dns forget lets the guard forget a zone with a policy, and fails for another zone', async () => {
  await countQueries();
  expect(await floodgate(['dns', 'forget', ZONE_NAME])).toContain('All guards forget example.test');
  await until('the zone to be forgotten', async () => (await queries()) === 0);
  await expect(floodgate(['dns', 'forget', 'example.org'])).rejects.toMatchObject({
    stderr: expect.stringContaining('no policy for the zone example.org'),
  });
  expect((await program.api('POST', `/../zones/${POLICY}/forget`)).status).toBe(404);
});

it('the guard forgets a zone within seconds after the audit log contains it, also from another process', async () => {
  await countQueries();
  const storage = openRulesStorage(program.dataDir);
  const forgotten = { account: ACCOUNT, zone: ZONE_NAME, policy: POLICY };
  await storage.audit.addForgotten({ ...forgotten, account: 'other' }, { by: 'cli:tester', from: 'local' });
  await storage.audit.addForgotten(forgotten, { by: 'cli:tester', from: 'local' });
  await storage.close();
  await until('the zone to be forgotten', async () => (await queries()) === 0);
  expect(program.output()).toMatch(/"zone":"example\.test".*"zone forgotten"/);
  const { json } = await program.api('GET', '/../audit');
  expect(json.result[0]).toMatchObject({ action: 'zone.forget', by: 'cli:tester', ...forgotten });
  const env = { ...process.env, FLOODGATE_DATA_DIR: program.dataDir };
  const { stdout } = await run(process.execPath, [PROGRAM, 'audit', '--account', ACCOUNT], { env });
  expect(stdout).toMatch(new RegExp(`cli:tester +local +zone\\.forget +${ACCOUNT} +${POLICY} +${ZONE_NAME}`));
});

it('a zone stays forgotten if the server is killed as soon as the request is answered', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  const key = { high: 3, low: 4 };
  const detector = new AttackDetector(key, {}, Date.now());
  const zone = detector.zones.add(ZONE_NAME)?.number ?? Number.NaN;
  const names = Array.from({ length: 5_000 }, (_, index): ProfileEntry => {
    const { hashHigh, hashLow } = questionOf(`n${index}.${ZONE_NAME}`, 1, key);
    return [hashHigh, hashLow, (1 << 16) | zone, 0];
  });
  const store = DnsStore.open(dataDir);
  await store.save(detector.learned(Date.now()), names);
  await store.close();
  const start = () => startProgram(dataDir, server);
  const known = async ({ metrics }: Program): Promise<number> =>
    Number(/^floodgate_dns_profile_names (\d+)$/m.exec(await metrics())?.[1]);
  const first = await start();
  expect(await known(first)).toBe(names.length);
  const { json } = await first.api('POST', '/../zones', { zone: ZONE_NAME });
  const { status } = await first.api('POST', `/../zones/${json.result.id}/forget`);
  await first.kill();
  expect(status).toBe(200);
  const second = await start();
  expect(await known(second)).toBe(0);
  await second.stop();
  await rm(dataDir, { recursive: true });
});
