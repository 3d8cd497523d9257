import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { call } from './support/call.ts';
import { clientEnvironment, floodgate } from './support/command.ts';
import { newRule, rulesPath, zonesPath } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

let server: RulesServer;
let folder: string;
let files = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-rule-files-'));
  server = await startServer();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (account: string, ...args: string[]) =>
  floodgate(['rules', ...args], { env: clientEnvironment(server, account) });
const create = async (account: string, fields: object = {}) =>
  (await call(server, { method: 'POST', path: rulesPath(account), body: { ...newRule, ...fields } })).json
    .result;
const stored = async (account: string) => (await call(server, { path: rulesPath(account) })).json.result;
const createZone = async (account: string, body: object) =>
  (await call(server, { method: 'POST', path: zonesPath(account), body })).json.result;
const storedZones = async (account: string) => (await call(server, { path: zonesPath(account) })).json.result;

function fileOf(content: unknown): string {
  files++;
  const file = join(folder, `rules-${files}.yaml`);
  writeFileSync(file, typeof content === 'string' ? content : stringify(content));
  return file;
}

const region = (name: string, fields: object = {}) => ({ ...newRule, scope: 'region', name, ...fields });

/** Exit code for invalid arguments. */
const WRONG_USAGE = 64;

// Each test uses a separate account.
describe.concurrent('floodgate rules plan and apply', () => {
  it('show each changed field, and make exactly these changes', async () => {
    const kept = await create('p1', region('keep'));
    const changed = await create('p1', region('change'));
    const gone = await create('p1', region('gone'));
    const file = fileOf({
      rules: [
        region('KEEP'),
        region('new', { mode: 'monitoring' }),
        region('change', { mode: 'disabled', rate_sensitivity: 'high' }),
      ],
    });

    const plan = await run('p1', 'plan', file);
    expect(plan.status).toBe(2);
    const id = /Plan ([0-9a-f]{16}): 1 to create, 1 to change, 1 to delete, 1 unchanged\.\n$/.exec(
      plan.stdout,
    )?.[1];
    expect(plan.stdout).toBe(`~ change region change (${changed.id})
    mode: enabled → disabled
    rate_sensitivity: low → high
+ create region new
    mode: monitoring
    profile_sensitivity: low
    rate_sensitivity: low
    burst_sensitivity: low
- delete region gone (${gone.id}), enabled

Plan ${id}: 1 to create, 1 to change, 1 to delete, 1 unchanged.
`);
    expect(await stored('p1')).toHaveLength(3);

    const applied = await run('p1', 'apply', file, '--plan', String(id));
    expect(applied.status, applied.stderr).toBe(0);
    expect(applied.stdout).toContain(
      'changed region change (1 of 3)\ncreated region new (2 of 3)\ndeleted region gone (3 of 3)',
    );
    const after = await stored('p1');
    expect(after).toMatchObject([
      kept,
      { id: changed.id, mode: 'disabled', rate_sensitivity: 'high', burst_sensitivity: 'low' },
      { name: 'new', mode: 'monitoring' },
    ]);

    const again = await run('p1', 'plan', file);
    expect([again.status, again.stdout]).toEqual([0, 'Nothing to do: 3 rules are as in the file.\n']);
    expect((await run('p1', 'apply', file)).status).toBe(0);
    expect(await stored('p1')).toEqual(after);
  });

  it('reject an id of an outdated plan', async () => {
    await create('p2', region('a'));
    const file = fileOf({ rules: [region('a', { mode: 'disabled' })] });
    const id = /Plan ([0-9a-f]{16})/.exec((await run('p2', 'plan', file)).stdout)?.[1] ?? '';
    await create('p2', region('meanwhile'));
    const before = await stored('p2');
    const refused = await run('p2', 'apply', file, '--plan', id);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`not ${id}; nothing was changed`),
    ]);
    expect(await stored('p2')).toEqual(before);
  });

  it('change more than a third of ten rules only with --force', async () => {
    for (let index = 0; index < 10; index++) await create('p3', region(`r${index}`));
    const before = await stored('p3');
    const names = Array.from({ length: 10 }, (_, index) => `r${index}`);
    const touching = (number: number) =>
      fileOf({ rules: names.map((name, index) => region(name, index < number ? { mode: 'disabled' } : {})) });
    const refused = await run('p3', 'apply', touching(4));
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('--force')]);
    const empty = await run('p3', 'apply', fileOf({ rules: [] }));
    expect([empty.status, empty.stderr]).toEqual([1, expect.stringContaining('--force')]);
    expect(await stored('p3')).toEqual(before);
    expect((await run('p3', 'apply', touching(3))).status).toBe(0);
    expect((await run('p3', 'apply', touching(8), '--force')).status).toBe(0);
    expect((await stored('p3')).filter((rule: { mode: string }) => rule.mode === 'disabled')).toHaveLength(8);
  });

  it.each([
    ['is empty', ''],
    ['is blank', ' \n\n'],
    ['contains only comments', '# rules: none yet\n'],
    ['contains nothing below "rules"', 'rules:\n'],
    ['contains null', 'null\n'],
    ['contains no rules', 'account: p7-0\n'],
    ['contains a list instead of "rules"', '[]'],
    ['contains an empty rule', 'rules:\n  -\n'],
  ])('reject a file that %s, even with --force', async (_, text) => {
    const account = `p7-${++files}`;
    await create(account);
    const before = await stored(account);
    for (const args of [
      ['plan', fileOf(text)],
      ['apply', fileOf(text), '--force'],
    ]) {
      const { status, stdout, stderr } = await run(account, ...args);
      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/rules-\d+\.yaml/);
    }
    expect(await stored(account)).toEqual(before);
  });

  it('reject an empty standard input and an empty file name', async () => {
    const env = clientEnvironment(server, 'p8');
    await create('p8');
    for (const file of ['-', '']) {
      const { status, stderr } = await floodgate(['rules', 'apply', file, '--force'], { env, stdin: '' });
      expect(status, stderr).toBe(1);
    }
    expect(await stored('p8')).toHaveLength(1);
  });

  it('delete the only rule of an account only with --force', async () => {
    await create('p9');
    const file = fileOf({ rules: [] });
    const plan = await run('p9', 'plan', file);
    expect([plan.status, plan.stderr]).toEqual([2, expect.stringContaining('--force')]);
    expect(plan.stderr).toContain('deletes every rule of the account');
    const id = /Plan ([0-9a-f]{16})/.exec(plan.stdout)?.[1] ?? '';
    for (const args of [[], ['--plan', id], ['--plan', '', '--force']]) {
      const refused = await run('p9', 'apply', file, ...args);
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('nothing was changed')]);
    }
    expect(await stored('p9')).toHaveLength(1);
  });

  it('replace the only rule without --force, and delete it with --force', async () => {
    await create('p10');
    expect((await run('p10', 'apply', fileOf({ rules: [region('other')] }))).status).toBe(0);
    expect(await stored('p10')).toMatchObject([{ name: 'other' }]);
    const file = fileOf({ rules: [] });
    expect((await run('p10', 'apply', file, '--force')).status).toBe(0);
    expect(await stored('p10')).toEqual([]);
    expect((await run('p10', 'apply', file)).status).toBe(0);
  });

  it('find nothing to do for an exported file, with any rule names', async () => {
    for (const fields of [
      { name: 'ōsaka: 🌊' },
      region('WEUR', { mode: 'disabled' }),
      { scope: 'datacenter', name: '123' },
      { scope: 'datacenter', name: 'yes' },
      { scope: 'datacenter', name: '#:{[' },
      { scope: 'datacenter', name: '-' },
    ])
      await create('p4', fields);
    const exported = await run('p4', 'export');
    expect(exported.status).toBe(0);
    const plan = await run('p4', 'plan', fileOf(exported.stdout));
    expect([plan.status, plan.stdout]).toEqual([0, 'Nothing to do: 6 rules are as in the file.\n']);
    const copied = await floodgate(['rules', 'apply', '-'], {
      env: clientEnvironment(server, 'p4-copy'),
      stdin: exported.stdout.replace(/^account.*\n/, ''),
    });
    expect(copied.status, copied.stderr).toBe(0);
    const bare = (rules: object[]) =>
      rules.map((rule) => ({ ...rule, id: '', created_on: '', modified_on: '' }));
    expect(bare(await stored('p4-copy'))).toEqual(bare(await stored('p4')));
  });

  it('delete rules without effect if they apply an exported file', async () => {
    const gone = await create('p11', region('weur'));
    const kept = await create('p11', region('WEUR', { mode: 'disabled' }));
    const file = fileOf((await run('p11', 'export')).stdout);
    const plan = await run('p11', 'plan', file, '--json');
    expect([plan.status, JSON.parse(plan.stdout)]).toMatchObject([
      2,
      { account: 'p11', server: server.baseUrl, creates: [], updates: [], deletes: [gone], unchanged: 1 },
    ]);
    expect((await run('p11', 'apply', file)).status).toBe(0);
    expect(await stored('p11')).toEqual([kept]);
  });

  it('make zone policies equal to the list "zones", and leave them unchanged without it', async () => {
    const kept = await createZone('z1', { zone: 'keep.example', comment: 'kept' });
    const changed = await createZone('z1', { zone: 'change.example', rate: 100, burst: 7 });
    const gone = await createZone('z1', { zone: 'gone.example', mode: 'monitoring' });
    expect((await run('z1', 'plan', fileOf({ rules: [] }))).stdout).toBe(
      'Nothing to do: 0 rules are as in the file.\n',
    );
    const file = fileOf({
      rules: [region('new')],
      zones: [
        { zone: 'Change.example.', rate: 200 },
        { zone: 'new.example', mode: 'disabled', comment: 'new' },
        { zone: 'keep.example', comment: 'kept' },
      ],
    });
    const plan = await run('z1', 'plan', file);
    expect(plan.status).toBe(2);
    expect(plan.stdout.split('\n').slice(5)).toEqual([
      `~ change zone change.example (${changed.id})`,
      '    rate: 100 → 200',
      '    burst: 7 → null',
      '+ create zone new.example',
      '    mode: disabled',
      '    comment: new',
      `- delete zone gone.example (${gone.id}), monitoring`,
      '',
      expect.stringMatching(/^Plan \w{16}: 2 to create, 1 to change, 1 to delete, 1 unchanged\.$/),
      '',
    ]);
    const json = JSON.parse((await run('z1', 'plan', file, '--json')).stdout);
    expect(json.zones).toMatchObject({
      creates: [{ zone: 'new.example' }],
      updates: [{ policy: changed, changes: { rate: 200, burst: null } }],
      deletes: [gone],
      unchanged: 1,
    });
    const applied = await run('z1', 'apply', file, '--plan', json.plan);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    expect(applied.stdout).toContain(
      'changed zone change.example (1 of 4)\ncreated zone new.example (2 of 4)\n' +
        'created region new (3 of 4)\ndeleted zone gone.example (4 of 4)\n',
    );
    expect(await storedZones('z1')).toMatchObject([
      kept,
      { id: changed.id, rate: 200, burst: null },
      { zone: 'new.example', mode: 'disabled' },
    ]);
    expect((await run('z1', 'plan', file)).stdout).toBe(
      'Nothing to do: 1 rule and 3 zone policies are as in the file.\n',
    );
    const exported = await run('z1', 'export');
    expect(exported.stdout).toContain('zones:\n  - zone: keep.example\n    comment: kept\n');
    expect((await run('z1', 'plan', fileOf(exported.stdout))).status).toBe(0);
  });

  it('delete all zone policies only with --force', async () => {
    await createZone('z2', { zone: 'example.com' });
    const file = fileOf({ rules: [], zones: [] });
    const refused = await run('z2', 'apply', file);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining('deletes every zone policy of the account; nothing was changed'),
    ]);
    expect((await run('z2', 'apply', file, '--force')).status).toBe(0);
    expect(await storedZones('z2')).toEqual([]);
  });

  it('reject the plan of another account', async () => {
    const file = fileOf({ rules: [region('a')] });
    const id = /Plan ([0-9a-f]{16})/.exec((await run('p12', 'plan', file)).stdout)?.[1] ?? '';
    const refused = await run('p12-other', 'apply', file, '--plan', id);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('nothing was changed')]);
    expect(await stored('p12-other')).toEqual([]);
    expect((await run('p12', 'apply', file, '--plan', id)).status).toBe(0);
  });

  it('reject a file for another account', async () => {
    const { status, stderr } = await run('p5', 'plan', fileOf({ account: 'other', rules: [] }));
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('is for account other, but FLOODGATE_ACCOUNT is p5'),
    ]);
  });

  it('report the errors of a file with line numbers', async () => {
    const { status, stderr } = await run(
      'p6',
      'plan',
      fileOf({ rules: [newRule, { ...newRule, mode: 'on' }] }),
    );
    expect([status, stderr]).toEqual([1, expect.stringMatching(/rules-\d+\.yaml:10: mode must be one of/)]);
    expect(stderr).not.toContain('    at ');
  });
});

describe.concurrent('floodgate rules', () => {
  it('creates, lists, updates and deletes rules', async () => {
    const settings = ['--mode', 'enabled', '--profile-sensitivity', 'low', '--rate-sensitivity', 'low'];
    const flags = ['--scope', 'region', '--name', 'WEUR', ...settings, '--burst-sensitivity', 'low'];
    const created = JSON.parse((await run('c1', 'create', ...flags, '--json')).stdout);
    expect(await stored('c1')).toEqual([created]);
    const second = await run('c1', 'create', ...flags);
    expect(second.stderr).toContain(`note: Other rules have the same target: ${created.id}`);
    const updated = await run('c1', 'update', created.id, '--mode', 'disabled', '--json');
    expect(JSON.parse(updated.stdout)).toMatchObject({ id: created.id, mode: 'disabled' });
    const listed = (await run('c1', 'list')).stdout.split('\n');
    expect(listed[0]?.split(/ {2,}/)).toEqual([
      'ID',
      'SCOPE',
      'NAME',
      'MODE',
      'PROFILE',
      'RATE',
      'BURST',
      'MODIFIED (UTC)',
    ]);
    expect(listed[1]).toContain(`${created.id}  region  WEUR  disabled`);
    expect((await run('c1', 'delete', created.id)).status).toBe(0);
    expect((await run('c1', 'list', '--json')).stdout.trim().split('\n')).toHaveLength(1);
    expect((await run('c1', 'delete', '--all')).status).toBe(0);
    expect(await stored('c1')).toEqual([]);
  });

  it.each([
    [['update', '3fa85f64-5717-4562-b3fc-2c963f66afa6', '--mode', 'disabled'], 1, 'HTTP 404'],
    [['update', '3fa85f64-5717-4562-b3fc-2c963f66afa6'], WRONG_USAGE, 'No setting was given'],
    [['update', 'x', '--mode', 'disabled'], WRONG_USAGE, "value 'x' is invalid for argument 'id'"],
    [['create', '--scope', 'planet'], WRONG_USAGE, 'Allowed choices are global, region, datacenter'],
    [['create', '--scope', 'global', '--name', ''], WRONG_USAGE, 'missing options: --mode (enabled, '],
    [['delete'], WRONG_USAGE, 'Use the ids of the rules'],
    [['list', '--url', 'ftp://x'], WRONG_USAGE, 'must be an http or https URL'],
    [['list', '--url', 'http://127.0.0.1:1'], 1, 'does not respond'],
    [['list', '--token-file', '/not/there'], 1, 'token file cannot be read'],
    [['plan', '/not/there.yaml'], 1, 'cannot be read'],
  ])('rejects %j with a message', async (args, code, message) => {
    const { status, stderr } = await run('c2', ...args);
    expect([status, stderr]).toEqual([code, expect.stringContaining(message)]);
    expect(stderr).not.toContain('    at ');
  });

  it('prints what to do if the token is missing or wrong, but not the token', async () => {
    const env = clientEnvironment(server, 'c3');
    const missing = await floodgate(['rules', 'list'], { env: { ...env, FLOODGATE_TOKEN: '' } });
    expect([missing.status, missing.stderr]).toEqual([
      1,
      expect.stringContaining('FLOODGATE_TOKEN is empty'),
    ]);
    const wrong = await floodgate(['rules', 'list'], { env: { ...env, FLOODGATE_TOKEN: 'fg_wrong' } });
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('HTTP 401')]);
    expect(wrong.stderr).not.toContain('fg_wrong');
  });

  it('retries after 429 and 503, and follows no redirect', async () => {
    // Responses of a server under load, then a redirect.
    const answers = [
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 503, headers: { 'retry-after': '0' } },
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
    ];
    let requests = 0;
    const busy = createServer((_request, response) => {
      const answer = answers[requests++];
      response.writeHead(answer?.status ?? 200, answer?.headers).end();
    });
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    const { port } = busy.address() as AddressInfo;
    const { status, stderr } = await run('c4', 'list', '--url', `http://127.0.0.1:${port}`);
    expect([status, requests, stderr]).toEqual([1, 3, expect.stringContaining('HTTP 302')]);
    await new Promise((resolve) => busy.close(resolve));
  });
});

describe.concurrent('floodgate zones', () => {
  const zones = (account: string, ...args: string[]) =>
    floodgate(['zones', ...args], { env: clientEnvironment(server, account) });

  it('creates, lists, shows, updates and deletes policies by the name of their zone', async () => {
    const flags = ['--mode', 'monitoring', '--rate', '100', '--only-when-upstream-unhealthy', 'true'];
    const created = JSON.parse((await zones('n1', 'create', 'Example.com.', ...flags, '--json')).stdout);
    expect(await storedZones('n1')).toEqual([created]);
    expect(created).toMatchObject({
      zone: 'example.com',
      mode: 'monitoring',
      rate: 100,
      only_when_upstream_unhealthy: true,
    });
    const changes = ['--rate', 'none', '--rate-sensitivity', 'high', '--comment', 'none'];
    const updated = await zones('n1', 'update', 'example.COM', ...changes, '--json');
    expect(JSON.parse(updated.stdout)).toMatchObject({
      id: created.id,
      rate: null,
      rate_sensitivity: 'high',
      comment: 'none',
    });
    expect((await zones('n1', 'get', 'example.com', '--json')).stdout).toBe(updated.stdout);
    expect((await zones('n1', 'get', 'example.com')).stdout).toMatch(
      /\nzone +example\.com\n(.*\n)+rate +none\n/,
    );
    const [headings, row] = (await zones('n1', 'list')).stdout.split('\n');
    expect(headings?.split(/ {2,}/).slice(0, 4)).toEqual(['ID', 'ZONE', 'MODE', 'JUDGE BY']);
    expect(row).toContain(`${created.id}  example.com  monitoring  auto`);
    expect((await zones('n1', 'delete', 'example.com')).stdout).toBe('policy of example.com deleted\n');
    await createZone('n1', { zone: '.' });
    expect((await zones('n1', 'delete', '--all')).status).toBe(0);
    expect(await storedZones('n1')).toEqual([]);
  });

  it.each([
    [['update', 'example.com', '--mode', 'disabled'], 1, 'has no policy for the zone example.com'],
    [['update', 'example.com'], WRONG_USAGE, 'No setting was given; use at least one of --mode, --judge-by'],
    [['create', 'a..b'], WRONG_USAGE, 'zone must be a DNS name'],
    [['create', ''], WRONG_USAGE, 'zone must be a DNS name'],
    [['create', 'a', '--mode', 'on'], WRONG_USAGE, 'Allowed choices are inherit, enabled'],
    [['create', 'a', '--rate', '1.5'], WRONG_USAGE, '--rate is "1.5"; it must be an integer, or none'],
    [['create', 'a', '--rate', '0'], 1, 'rate must be an integer from 1 to 400000 or null'],
    [['create', 'a', '--only-when-upstream-unhealthy', 'yes'], WRONG_USAGE, 'it must be true or false'],
    [['delete'], WRONG_USAGE, 'Use the names of the zones, or --all'],
    [['get', 'missing.example'], 1, 'has no policy for the zone missing.example'],
  ])('rejects %j with a message', async (args, code, message) => {
    const { status, stderr } = await zones('n2', ...args);
    expect([status, stderr]).toEqual([code, expect.stringContaining(message)]);
    expect(stderr).not.toContain('    at ');
  });
});
