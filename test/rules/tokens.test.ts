import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Cloudflare from 'cloudflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HANG_MS } from '../support/hang.ts';
import { call } from './support/call.ts';
import { floodgate } from './support/command.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

let server: RulesServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const run = (...args: string[]) => floodgate(args, { env: { FLOODGATE_DATA_DIR: server.dataDir } });

async function newToken(...flags: string[]): Promise<{ id: string; token: string }> {
  const { status, stdout, stderr } = await run('token', 'create', '--json', ...flags);
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
}

const list = (token: string, account = 'a') => call(server, { path: rulesPath(account), token });
const create = (token: string, account = 'a') =>
  call(server, { method: 'POST', path: rulesPath(account), body: newRule, token });
const refusal = (answer: { status: number; json: { errors: { code: number }[] } }) => [
  answer.status,
  answer.json.errors[0]?.code,
];

describe('an API token', () => {
  it('is printed once, as fg_ and 40 random characters, alone on standard output', async () => {
    const { stdout, stderr } = await run('token', 'create', '--all-accounts');
    expect(stdout).toMatch(/^fg_[A-Za-z0-9]{40}\n$/);
    expect(stderr).toContain('cannot be shown again');
    const listed = (await run('token', 'list')).stdout + (await run('token', 'list', '--json')).stdout;
    expect(listed).not.toContain(stdout.trim());
  });

  it('is not stored on disk', async () => {
    const { token, id } = await newToken('--all-accounts');
    const stored = readFileSync(join(server.dataDir, 'rules', 'data.mdb')).toString('latin1');
    expect(stored).toContain(id);
    expect(stored).not.toContain(token);
  });

  it('is valid immediately in a running server, for its accounts only', async () => {
    const { token } = await newToken('--account', 'a', 'b');
    expect((await create(token, 'a')).status).toBe(200);
    expect((await list(token, 'b')).status).toBe(200);
    expect(refusal(await list(token, 'c'))).toEqual([403, 10000]);
    expect(refusal(await create(token, 'c'))).toEqual([403, 10000]);
  });

  it('is valid for any account if created with --all-accounts', async () => {
    const { token } = await newToken('--all-accounts');
    expect((await create(token, 'anything')).status).toBe(200);
  });

  it('cannot write with the read permission, and can read with the write permission', async () => {
    const reader = await newToken('--account', 'a', '--permission', 'read');
    expect((await list(reader.token)).status).toBe(200);
    const { result } = (await create(TOKEN)).json;
    const single = `${rulesPath('a')}/${result.id}`;
    for (const [method, path, body] of [
      ['POST', rulesPath('a'), newRule],
      ['PATCH', single, { mode: 'disabled' }],
      ['DELETE', single, undefined],
      ['DELETE', rulesPath('a'), undefined],
    ] as const)
      expect(refusal(await call(server, { method, path, body, token: reader.token }))).toEqual([403, 10000]);
    const writer = await newToken('--account', 'a', '--permission', 'dns_protection:write');
    expect((await create(writer.token)).status).toBe(200);
    expect((await list(writer.token)).status).toBe(200);
  });

  it("makes Cloudflare's official client throw PermissionDeniedError if a permission is missing", async () => {
    const { token } = await newToken('--account', 'a', '--permission', 'read');
    const client = new Cloudflare({ apiToken: token, baseURL: server.baseUrl });
    await expect(client.post(rulesPath('a', 'magic'), { body: newRule })).rejects.toBeInstanceOf(
      Cloudflare.PermissionDeniedError,
    );
  });

  it('is rejected at the next request after it was revoked', async () => {
    const { id, token } = await newToken('--account', 'a');
    // Another process revokes the token: the first request after its exit must be rejected.
    expect((await list(token)).status).toBe(200);
    const { status, stdout } = await run('token', 'revoke', id);
    expect([status, stdout]).toEqual([0, `${id} revoked\n`]);
    expect(refusal(await list(token))).toEqual([401, 10000]);
    expect(refusal(await call(server, { path: '/user/tokens/verify', token }))).toEqual([401, 10000]);
  });

  it('is rejected after it has expired', async () => {
    const { token } = await newToken('--account', 'a', '--expires', '2s');
    expect((await list(token)).status).toBe(200);
    await expect.poll(async () => (await list(token)).status, { timeout: HANG_MS }).toBe(401);
  });

  it('has its id and expiry in the response of the token check', async () => {
    const { id, token } = await newToken('--account', 'a', '--expires', '2099-01-31');
    expect((await call(server, { path: '/user/tokens/verify', token })).json.result).toEqual({
      id,
      status: 'active',
      expires_on: '2099-01-31T00:00:00.000000+00:00',
    });
  });

  it('has its permissions and accounts in the response of /user/tokens/current', async () => {
    const { id, token } = await newToken('--account', 'a', '--permission', 'read', '--label', 'reader');
    expect((await call(server, { path: '/user/tokens/current', token })).json.result).toEqual({
      id,
      label: 'reader',
      permissions: ['dns_protection:read'],
      all_accounts: false,
      accounts: ['a'],
    });
    const { result } = (await call(server, { path: '/user/tokens/current' })).json;
    expect(result).toMatchObject({
      id: expect.stringMatching(/^configured:[0-9a-f]{16}$/),
      all_accounts: true,
      accounts: [],
    });
    expect(result.permissions).toContain('dns_protection:audit');
    expect(refusal(await call(server, { path: '/user/tokens/current', token: `${token}x` }))).toEqual([
      401, 10000,
    ]);
  });

  it('is not logged, and neither are request bodies', async () => {
    const { token } = await newToken('--account', 'a');
    const name = 'a-name-that-only-a-body-has';
    for (const body of [{ ...newRule, name }, { ...newRule, mode: name }, name])
      await call(server, { method: 'POST', path: rulesPath('a'), body, token });
    await call(server, { path: rulesPath('a'), token: `${token}x` });
    for (const secret of [token, name, TOKEN]) expect(server.output()).not.toContain(secret);
  });
});

describe('floodgate token', () => {
  it('lists tokens with their status', async () => {
    const { id } = await newToken(
      '--account',
      'a',
      '--label',
      'pipeline',
      '--permission',
      'read',
      '--expires',
      '2099-01-31',
    );
    const line = (await run('token', 'list')).stdout.split('\n').find((text) => text.startsWith(id));
    expect(line?.split(/ {2,}/)).toEqual([id, 'active', 'a', 'read', '2099-01-31 00:00:00', 'pipeline']);
    await run('token', 'revoke', id);
    const found = (await run('token', 'list', '--json')).stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
      .find((token) => token.id === id);
    expect(found).toMatchObject({ id, status: 'revoked', accounts: ['a'], label: 'pipeline' });
    expect(found).not.toHaveProperty('hash');
  });

  it.concurrent.each([
    [['create'], 'accounts of the token'],
    [['create', '--account', 'a b'], 'An account id is'],
    [['create', '--account', 'a', '--all-accounts'], 'cannot be used with'],
    [['create', '--account', 'a', '--permission', 'admin'], 'Allowed: read, write'],
    [['create', '--account', 'a', '--expires', 'soon'], 'is not a time'],
    [['create', '--account', 'a', '--expires', '2001-01-01'], 'is in the past'],
    [['revoke', 'nobody'], "value 'nobody' is invalid for argument 'id'"],
    [['revoke', '0'.repeat(32)], `No token has the id ${'0'.repeat(32)}`],
    [['revoke'], 'missing required argument'],
  ])('rejects %j with a message', async (args, message) => {
    const { status, stderr } = await run('token', ...args);
    expect(status).not.toBe(0);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('    at ');
  });

  it('reports a missing data folder', async () => {
    const { status, stderr } = await floodgate([
      'token',
      'list',
      '--data-dir',
      join(server.dataDir, 'not-there'),
    ]);
    expect([status, stderr]).toEqual([1, expect.stringContaining('contains no rules and tokens')]);
  });
});
