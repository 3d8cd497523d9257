import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isTerminalAvailable, onTerminal } from '../server/support/onTerminal.ts';
import { call } from './support/call.ts';
import { floodgate, type Outcome } from './support/command.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

let server: RulesServer;
let other: RulesServer;
let folder: string;
let file: string;
beforeAll(async () => {
  [server, other] = await Promise.all([startServer(), startServer()]);
  folder = mkdtempSync(join(tmpdir(), 'floodgate-login-'));
  file = join(folder, 'floodgate', 'credentials.json');
});
afterAll(async () => {
  await Promise.all([server.stop(), other.stop()]);
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => rmSync(file, { force: true }));

interface Run {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function run(words: string, { stdin, env }: Run = {}): Promise<Outcome> {
  return floodgate(words.split(' '), {
    env: { XDG_CONFIG_HOME: folder, ...env },
    ...(stdin !== undefined && { stdin }),
  });
}

async function tokenFor(
  accounts: readonly string[],
  permissions = ['dns_protection:write'],
): Promise<string> {
  const body = { accounts, permissions, label: 'test' };
  const { json } = await call(server, { method: 'POST', path: '/user/tokens', body });
  return json.result.value;
}

it('login stores the URL, the token and its only account for later commands, readable by the owner only', async () => {
  const token = await tokenFor(['acme']);
  const login = await run(`login --url ${server.baseUrl}`, { stdin: `${token}\n` });
  expect(login).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('account acme') });
  expect(login.stdout).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'floodgate')).mode & 0o777).toBe(0o700);
  const created = await run(
    'rules create --scope global --name * --mode disabled --profile-sensitivity low --rate-sensitivity low --burst-sensitivity low',
  );
  expect(created).toMatchObject({ status: 0, stderr: '' });
  const [rule] = JSON.parse(`[${(await run('rules list --json')).stdout.trim()}]`);
  expect(rule).toMatchObject({ mode: 'disabled' });
  const start = rule.id.slice(0, 8);
  expect((await run(`rules update ${start} --mode monitoring --json`)).stdout).toContain(
    '"mode":"monitoring"',
  );
  expect(await run(`rules delete ${start}`)).toMatchObject({ status: 0, stdout: `${rule.id} deleted\n` });
  expect(await run('logout')).toMatchObject({ status: 0, stdout: `Logged out: ${file} was deleted.\n` });
  expect(existsSync(file)).toBe(false);
  expect(await run('rules list')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('floodgate login'),
  });
  expect((await run('logout')).status).toBe(0);
});

it('login stores nothing if the token is wrong, missing, or has no access to the account', async () => {
  const token = await tokenFor(['acme']);
  for (const [words, stdin, message] of [
    ['', 'fg_wrong', 'HTTP 401'],
    ['', '', 'empty'],
    ['', 'two words', 'invalid characters'],
    [' --account other', token, 'no access to account other'],
  ] as const) {
    const { status, stderr } = await run(`login --url ${server.baseUrl}${words}`, { stdin });
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(existsSync(file)).toBe(false);
  }
});

it('the stored token is sent only to its URL, and flags and variables come first', async () => {
  const token = await tokenFor(['acme']);
  await run(`login --url ${server.baseUrl}`, { stdin: token });
  const refused = await run(`rules list --url ${other.baseUrl}`);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining(`is for ${server.baseUrl}`) });
  expect((await run('rules list', { env: { FLOODGATE_URL: other.baseUrl } })).status).toBe(1);
  const env = { FLOODGATE_URL: other.baseUrl, FLOODGATE_TOKEN: TOKEN, FLOODGATE_ACCOUNT: 'x' };
  expect(await run('rules list', { env })).toMatchObject({ status: 0, stderr: '' });
  // The account of the login belongs to its token.
  expect(await run('rules list', { env: { FLOODGATE_TOKEN: 'fg_wrong' } })).toMatchObject({ status: 1 });
});

it('the account is needed only if the token has several', async () => {
  const token = await tokenFor(['one', 'two']);
  const login = await run(`login --url ${server.baseUrl}`, { stdin: token });
  expect(login.stdout).toContain('without an account: use --account');
  expect(await run('rules list')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('use --account'),
  });
  expect((await run('rules list --account one')).status).toBe(0);
  expect((await run(`login --url ${server.baseUrl} --account two`, { stdin: token })).stdout).toContain(
    'account two',
  );
  expect((await run('rules list')).status).toBe(0);
  const env = { FLOODGATE_TOKEN: await tokenFor(['single']), FLOODGATE_URL: server.baseUrl };
  expect((await run('rules list', { env })).status).toBe(0);
});

it('a file that others can read, or that is damaged, is rejected', async () => {
  await run(`login --url ${server.baseUrl}`, { stdin: await tokenFor(['acme']) });
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, '{"url": 1');
  const env = { FLOODGATE_URL: server.baseUrl, FLOODGATE_TOKEN: TOKEN, FLOODGATE_ACCOUNT: 'x' };
  expect(await run('rules list', { env })).toMatchObject({ status: 0, stderr: '' });
  expect((await run('rules list')).stderr).toContain('does not contain credentials');
  rmSync(file);
  writeFileSync(file, text, { mode: 0o644 });
  expect((await run('rules list')).stderr).toContain('can be read by other users');
  expect((await run('logout')).status).toBe(0);
  expect(existsSync(file)).toBe(false);
});

it('tokens and the audit are managed over the API after a login', async () => {
  const token = await tokenFor(['acme'], ['dns_protection:write', 'dns_protection:audit', 'tokens:write']);
  await run(`login --url ${server.baseUrl}`, { stdin: token });
  const created = await run('token create --account acme --permission read --label child --json');
  expect(created).toMatchObject({ status: 0, stderr: '' });
  const { id, token: secret } = JSON.parse(created.stdout);
  expect(secret).toMatch(/^fg_/);
  expect((await run('token list --json')).stdout).toContain(`"id":"${id}"`);
  expect(await run(`token revoke ${id}`)).toMatchObject({ status: 0, stdout: `${id} revoked\n` });
  const missing = '0'.repeat(32);
  expect(await run(`token revoke ${missing}`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`No token has the id ${missing}`),
  });
  const audit = await run('audit --account acme');
  expect(audit).toMatchObject({ status: 0, stdout: expect.stringContaining('WHEN (UTC)') });
  expect(audit.stdout).toMatch(new RegExp(`token\\.revoke +${id} +child`));
  expect((await run(`audit --url ${server.baseUrl}`)).stdout).toBe(audit.stdout);
  // The start of an id would match no entry.
  expect((await run('audit --rule 31c70c65')).status).toBe(64);
  for (const words of ['key list', 'key revoke 12345678'])
    expect(await run(words)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`${server.baseUrl} has no gateway`),
    });
});

it('flags select the API or the data folder, then variables, then the login', async () => {
  const token = await tokenFor(['acme'], ['tokens:read']);
  await run(`login --url ${server.baseUrl}`, { stdin: token });
  const ids = async (words: string, env: Run['env'] = {}) => {
    const { status, stdout, stderr } = await run(`token list --json ${words}`.trim(), { env });
    expect(status, stderr).toBe(0);
    return { count: stdout.split('\n').length - 1, stderr };
  };
  const overApi = (await ids('')).count;
  expect(overApi).toBeGreaterThan(0);
  // No token was created in the data folder of the other server.
  const data = { FLOODGATE_DATA_DIR: other.dataDir };
  expect(await ids(`--data-dir ${other.dataDir}`)).toEqual({ count: 0, stderr: '' });
  expect(await ids('', data)).toEqual({
    count: 0,
    stderr: `Using the data folder ${other.dataDir} (FLOODGATE_DATA_DIR), not the API at ${server.baseUrl} (floodgate login).\n`,
  });
  const url = { FLOODGATE_URL: server.baseUrl };
  expect(await ids('', { ...data, ...url })).toEqual({
    count: 0,
    stderr: `Using the data folder ${other.dataDir} (FLOODGATE_DATA_DIR), not the API at ${server.baseUrl} (FLOODGATE_URL).\n`,
  });
  expect(await ids('', url)).toEqual({ count: overApi, stderr: '' });
  expect(await ids(`--url ${server.baseUrl}`, data)).toEqual({ count: overApi, stderr: '' });
  expect(await ids(`--data-dir ${other.dataDir}`, url)).toEqual({ count: 0, stderr: '' });
  const conflict = await run(`token list --url ${server.baseUrl} --data-dir x`);
  expect(conflict).toMatchObject({ status: 64, stderr: expect.stringContaining('--data-dir') });
});

it.skipIf(!isTerminalAvailable)('a terminal is asked for the token, which it does not show', async () => {
  const token = await tokenFor(['acme']);
  const { output, code } = await onTerminal(['login', '--url', server.baseUrl], {
    env: { XDG_CONFIG_HOME: folder },
    typed: { 'API token for': `${token}\r` },
  });
  expect(code).toBe(0);
  expect(output).toContain('Logged in to');
  expect(output).not.toContain(token);
});

it.skipIf(!isTerminalAvailable)('rules create asks a terminal for what is missing', async () => {
  await run(`login --url ${server.baseUrl}`, { stdin: await tokenFor(['asked']) });
  const flags = [
    '--scope',
    'global',
    '--name',
    '*',
    '--profile-sensitivity',
    'low',
    '--rate-sensitivity',
    'low',
  ];
  const { output, code } = await onTerminal(['rules', 'create', ...flags], {
    env: { XDG_CONFIG_HOME: folder },
    typed: { 'mode (': 'wrong\r', 'Allowed: ': 'monitoring\r', 'burst_sensitivity (': 'high\r' },
  });
  expect(code).toBe(0);
  expect(output).toMatch(/global .* monitoring .* high/);
});

it.skipIf(!isTerminalAvailable)(
  'rules create that is interrupted at a question creates nothing',
  async () => {
    await run(`login --url ${server.baseUrl}`, { stdin: await tokenFor(['interrupted']) });
    const { output, code } = await onTerminal(['rules', 'create'], {
      env: { XDG_CONFIG_HOME: folder },
      typed: { 'scope (': '\u0003' },
    });
    expect(code).toBe(1);
    expect(output).toContain('floodgate: Not all questions were answered; nothing was created');
    expect(output).not.toContain('    at ');
  },
);
