import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityServer, serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { detectedBy } from '../../src/dns/detector/index.ts';
import { Conformance } from '../rules/support/conformance.ts';
import { type AlertReceiver, startAlertReceiver } from '../support/alertReceiver.ts';
import { PROGRAM } from '../support/program.ts';
import { until } from '../support/until.ts';
import { query, UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { ACCOUNT, type Envelope, type Program, startProgram, TOKEN } from './support/program.ts';

const run = promisify(execFile);
const RULE = {
  scope: 'global',
  name: 'global',
  mode: 'enabled',
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
};
/** QUERIES a second exceed the limit of any zone; SLICE queries fit into the socket's receive buffer. */
const QUERIES = 3000;
const SLICE = 200;

let folder: string;
let server: AuthorityServer;
let program: Program;
let client: UdpClient;
let receiver: AlertReceiver;
let sent = 0;
const start = (): Promise<Program> =>
  startProgram(
    folder,
    server,
    '--dns-zones',
    `${ZONE_NAME}=${join(folder, 'zone')}`,
    '--alerts-webhooks',
    receiver.url,
    '--alerts-allow-private',
  );
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  await writeFile(join(folder, 'zone'), ZONE_TEXT);
  server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  client = await new UdpClient().open();
  receiver = await startAlertReceiver();
  program = await start();
});
afterAll(async () => {
  client.close();
  await program.stop();
  await server.stop();
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The guard's own paths are siblings of the rules path. */
const get = (path: string) => program.api('GET', `/../${path}`);
const activeAttack = async () =>
  (await get('attacks')).json.result.find(({ state }: never) => state === 'active');

/** Returns the first message that a client of the live stream receives. */
async function firstLiveMessage(): Promise<object> {
  const base = `${program.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection`;
  const { body } = await fetch(`${base}/live`, { headers: { authorization: `Bearer ${TOKEN}` } });
  let text = '';
  for await (const part of body ?? []) {
    text += Buffer.from(part).toString();
    const [, data] = /\ndata: (.*)\n\n/.exec(text) ?? [];
    if (data !== undefined) return JSON.parse(data);
  }
  throw new Error('the stream ended without a message');
}

/** Sends random names, some with control characters and markup, until an attack matches. */
async function attackUntil(what: string, isIt: (attack: never) => boolean) {
  return until(what, async () => {
    for (let i = 0; i < QUERIES; i++) {
      const label = sent++ % 4 === 0 ? `\\027[2J<script>\\010${sent}` : `x${(sent * 7919).toString(36)}q`;
      client.send(query(`${label}.${ZONE_NAME}`, 1, 10_000 + (sent % 50_000)), program.dns);
      if (i % SLICE === 0) await client.ask(query(`www.${ZONE_NAME}`, 1, 1), program.dns);
    }
    const attack = await activeAttack();
    return attack !== undefined && isIt(attack as never) && attack;
  });
}

const floodgate = async (words: readonly string[], account = ACCOUNT): Promise<string> => {
  const env = {
    ...process.env,
    FLOODGATE_URL: program.url,
    FLOODGATE_ACCOUNT: account,
    FLOODGATE_TOKEN: TOKEN,
  };
  return (await run(process.execPath, [PROGRAM, ...words], { env })).stdout;
};

describe('an attack', () => {
  it('is reported by the API, the commands, the log and an alert while it lasts, and continues after SIGKILL and a restart', async () => {
    expect((await get('status')).json.result).toMatchObject({
      data_plane: 'embedded',
      ready: true,
      attack: false,
    });
    expect(await floodgate(['dns', 'watch', '--once'])).toMatch(
      /Rule +none: every query passes unless it is denied/,
    );
    expect(await floodgate(['dns', 'attacks'])).toContain('No attacks');
    const { json } = await program.api('POST', '', RULE);
    const ruleId = json.result.id;

    const attack = await attackUntil(
      'more than 1,000 queries of the attack to be limited',
      ({ limited }) => limited > 1000,
    );
    expect(attack).toMatchObject({
      state: 'active',
      zones: [ZONE_NAME],
      detected_by: expect.stringMatching(/^unknown_(?:rate|share)$/),
      rule: { id: ruleId, mode: 'enabled' },
    });
    expect(attack.known_names).toMatchObject({ limited: 0 });
    expect(attack.known_names.answered).toBeGreaterThan(0);
    const { json: detail } = await get(`attacks/${attack.id}`);
    expect(detail.result.top.names[0].value).toMatch(/^\[0-9a-z\]\{\d+-\d+\}\.example\.test$/);
    expect(detail.result.top.networks).toMatchObject([{ value: '127.0.0.0/24' }]);
    expect(detail.result.top.types).toMatchObject([{ value: 'A' }]);
    expect(JSON.stringify(detail)).not.toMatch(/\\u001b|<script>/);

    const { json: status } = await get('status');
    expect(status.result).toMatchObject({ attack: true, attacked_zones: [ZONE_NAME], rule: { id: ruleId } });
    expect(status.result.attacks).toMatchObject([{ id: attack.id }]);
    const reported = await firstLiveMessage();
    expect(reported).toMatchObject({
      guard: { attack: true, attacks: [{ id: attack.id }] },
      ended_attacks: [],
    });
    const { json: analytics } = await program.api('GET', `/${ruleId}/analytics`);
    expect(analytics.result.minutes.at(-1)).toMatchObject({ attacked_zones: [ZONE_NAME] });
    expect(analytics.result.totals.dropped).toBeGreaterThan(1000);

    const { json: what } = await get('what-if');
    expect(what.result).toMatchObject({ rule: { id: ruleId } });
    expect(what.result.recorded).toBeGreaterThan(500);
    expect(what.result.queries).toBeGreaterThanOrEqual(what.result.recorded);
    type Level = Record<'limited' | 'known_limited', number> & { readonly profile_sensitivity: string };
    const levels = (profile: string): Level[] =>
      what.result.levels.filter((level: Level) => level.profile_sensitivity === profile);
    const limited = levels('low').map((level) => level.limited);
    expect(limited).toHaveLength(3);
    expect(limited).toEqual(limited.toSorted((one, other) => one - other));
    expect(levels('medium').map((level) => level.known_limited)).toEqual([0, 0, 0]);
    const { json: rates } = await get('rates');
    expect(Math.max(...rates.result.known_asked)).toBeGreaterThan(0);
    expect(rates.result.mode.at(-1)).toBe(3);
    const { json: minutes } = await get('rates/minutes');
    expect(minutes.result.dropped.at(-1) + (minutes.result.dropped.at(-2) ?? 0)).toBeGreaterThan(0);
    const { limited: limitedEachSecond, until: endTime } = rates.result;
    const startMs = Date.parse(endTime) - limitedEachSecond.length * 1000;
    const firstLimited = limitedEachSecond.findIndex((count: number) => count > 0);
    // The thread that limited the queries reports its samples up to one second later than its counts.
    const samples = await until('the samples of the first limited queries', async () => {
      for (const second of [firstLimited, firstLimited + 1]) {
        const at = new Date(startMs + second * 1000).toISOString();
        const { json } = await get(`samples?at=${at}`);
        if (json.result.limited > 0) return json.result;
      }
    });
    expect(samples.queries[0]).toMatchObject({ name: expect.stringContaining(ZONE_NAME) });
    expect((await get('samples')).json.errors[0]?.message).toContain('at must be a time');

    const [watched, listed, whole, line] = await Promise.all([
      floodgate(['dns', 'watch', '--once']),
      floodgate(['dns', 'attacks']),
      floodgate(['dns', 'attacks', attack.id]),
      floodgate(['dns', 'attacks', '--json']),
    ]);
    expect(watched).toMatch(/Names limited most\n +\d+\.\d % {2}\[0-9a-z\]/);
    expect(watched).toContain('127.0.0.0/24');
    expect(watched).toMatch(
      /ZONE UNDER ATTACK .*QUERIES\/S.*\n\S+ +\d\d:\d\d:\d\d +\d+ +\d+ +\d+ +\d+ of \d+\n/,
    );
    expect(listed).toContain(attack.id);
    expect(whole).toMatch(/Users +\d+ of \d+ queries for known names answered, 0 limited, 0 would drop/);
    expect(JSON.parse(line)).toMatchObject({ id: attack.id });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that the text has no control characters
    for (const text of [watched, listed, whole]) expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f]/);

    const lines = () =>
      program
        .output()
        .trim()
        .split('\n')
        .map((text) => JSON.parse(text));
    const begun = lines().filter(({ msg }) => msg === 'attack started');
    expect(begun).toMatchObject([{ attack: attack.id, zones: [ZONE_NAME], rule: ruleId, mode: 'enabled' }]);
    await until('the rule change to be logged', () =>
      lines().some(
        ({ msg, rule, by }) => msg === 'rule changed' && rule === ruleId && by.startsWith('configured:'),
      ),
    );
    expect(program.output()).not.toContain(TOKEN);
    const [alert] = await until(
      'the alert for the attack',
      () => receiver.requests.length > 0 && receiver.alerts(),
    );
    expect(alert).toMatchObject({
      kind: 'attack',
      state: 'firing',
      subject: ZONE_NAME,
      details: { attack: attack.id, zones: [ZONE_NAME], rule: ruleId, mode: 'enabled' },
    });
    await program.kill();
    program = await start();
    const after = await until('the same attack after the restart', activeAttack);
    expect(after).toMatchObject({ id: attack.id, started_on: attack.started_on, zones: [ZONE_NAME] });
    const more = await attackUntil('the attack to continue', ({ limited }) => limited > after.limited);
    expect(more.id).toBe(attack.id);
    // The alert was sent before the kill and is not sent again.
    expect(new Set(receiver.alerts().map(({ id }) => id)).size).toBe(1);
    expect((await get(`attacks/${attack.id}`)).json.result.changes).toContainEqual(
      expect.objectContaining({ kind: 'restart' }),
    );
    expect((await get('attacks')).json).toMatchObject({
      result_info: { page: 1, per_page: 25, count: 1, total_count: 1, total_pages: 1 },
    });
  });

  it('that consists only of known names is reported', async () => {
    const own = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
    const zone = ['--dns-zones', `${ZONE_NAME}=${join(folder, 'zone')}`];
    const guard = await startProgram(own, server, ...zone, '--dns-thresholds-rate-per-second', '20');
    try {
      const { json } = await guard.api('POST', '', { ...RULE, profile_sensitivity: 'very_high' });
      const attack = await until('the attack on known names to be reported', async () => {
        for (let i = 0; i < QUERIES; i++) {
          client.send(query(`h${i % 200}.${ZONE_NAME}`, 1, 10_000 + i), guard.dns);
          if (i % SLICE === 0) await client.ask(query(`www.${ZONE_NAME}`, 1, 1), guard.dns);
        }
        const [found] = (await guard.api('GET', '/../attacks')).json.result;
        return found?.known_names.limited > 100 && found;
      });
      expect(attack).toMatchObject({
        state: 'active',
        detected_by: 'known_limited',
        zones: [ZONE_NAME],
        unknown_names: 0,
        rule: { id: json.result.id },
      });
      expect((await guard.api('GET', '/../status')).json.result).toMatchObject({ attack: true });
      expect(guard.output()).toContain('"msg":"attack started"');
      expect(await guard.metrics()).toMatch(/^floodgate_dns_known_networks \d+$/m);
    } finally {
      await guard.stop();
      await rm(own, { recursive: true, force: true });
    }
  });

  it('is reported in the form that the OpenAPI document describes', async () => {
    const response = await fetch(`${program.url}/client/v4/openapi.json`);
    const document = (await response.json()) as ConstructorParameters<typeof Conformance>[0] & object;
    const { valid, errors } = await new Validator().validate(
      structuredClone(document) as object as Record<string, unknown>,
    );
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    const conformance = new Conformance(document);
    const base = `/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection`;
    const { json: list } = await get('attacks');
    for (const path of ['status', 'rates', 'what-if', 'attacks', `attacks/${list.result[0].id}`]) {
      expect(conformance.faultsOf('GET', `${base}/${path}`, await get(path)), path).toEqual([]);
    }
    // The document has its own list of `detected_by` values, because the API module does not depend on the guard.
    const reported = await get(`attacks/${list.result[0].id}`);
    for (const detected_by of detectedBy) {
      const answer = {
        ...reported,
        json: { ...reported.json, result: { ...reported.json.result, detected_by } },
      };
      expect(
        conformance.faultsOf('GET', `${base}/attacks/${list.result[0].id}`, answer),
        detected_by,
      ).toEqual([]);
    }
  });

  it('is visible only in the guarded account, and attacks are listed in pages', async () => {
    const of = async (path: string, account = ACCOUNT) => {
      const base = `${program.url}/client/v4/accounts/${account}/magic/advanced_dns_protection/configs/dns_protection`;
      const response = await fetch(`${base}/${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
      return { status: response.status, json: (await response.json()) as Envelope };
    };
    const { json } = await of('attacks?per_page=1&page=2');
    expect(json).toMatchObject({
      success: true,
      result: [],
      result_info: { per_page: 1, page: 2, count: 0 },
    });
    expect(await of('attacks', 'other')).toMatchObject({ status: 200, json: { result: [] } });
    const until = '2020-01-01T00:00:00Z';
    expect((await of(`attacks?until=${until}`)).json).toMatchObject({
      result: [],
      result_info: { total_count: 0 },
    });
    const [statusOfOther, none, noUuid, bad] = await Promise.all([
      of('status', 'other'),
      of('attacks/b3a1c5de-0f4b-4c1e-9a66-6f1d2c3b4a5e'),
      of('attacks/..%2f..%2frules'),
      of('attacks?per_page=101&page=0&since=yesterday'),
    ]);
    for (const { status } of [statusOfOther, none, noUuid]) expect(status).toBe(404);
    expect(bad.status).toBe(400);
    expect(
      bad.json.errors.map((error) => (error as { source?: { pointer: string } }).source?.pointer),
    ).toEqual(['/page', '/per_page', '/since']);
    for (const path of ['attacks', 'rates/minutes'])
      expect(await of(`${path}?since=2026-11-21T00:00:00Z&until=2026-11-20T00:00:00Z`)).toMatchObject({
        status: 400,
        json: { errors: [{ message: 'since must not be after until', source: { pointer: '/since' } }] },
      });
    const anonymous = await fetch(
      `${program.url}/client/v4/accounts/${ACCOUNT}/network/advanced_dns_protection/configs/dns_protection/attacks`,
    );
    expect(anonymous.status).toBe(401);
    await expect(floodgate(['dns', 'watch', '--once'], 'other')).rejects.toMatchObject({
      stderr: expect.stringMatching(/no DNS guard for account other\..*dns\.account/),
    });
  });
});

describe('floodgate dns watch', () => {
  it('reconnects after a restart of the server', async () => {
    const env = {
      ...process.env,
      FLOODGATE_URL: program.url,
      FLOODGATE_ACCOUNT: ACCOUNT,
      FLOODGATE_TOKEN: TOKEN,
    };
    const watching = run(process.execPath, [PROGRAM, 'dns', 'watch'], { env });
    let reported = '';
    watching.child.stdout?.on('data', (text) => {
      reported += text;
    });
    await until('dns watch to show the guard', () => /passed=/.test(reported));
    await program.stop();
    await until('dns watch to report that it waits for the server', () =>
      /waiting for the server/.test(reported),
    );
    const port = Number(new URL(program.url).port);
    program = await startProgram(
      folder,
      server,
      '--port',
      String(port),
      '--dns-zones',
      `${ZONE_NAME}=${join(folder, 'zone')}`,
    );
    const seen = reported.length;
    await until('dns watch to show the guard again', () => /passed=/.test(reported.slice(seen)));
    watching.child.kill();
    await watching.catch(() => undefined);
  });
});
