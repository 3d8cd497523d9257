import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Cloudflare from 'cloudflare';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HANG_MS } from '../support/hang.ts';
import { type Answer, call, send } from './support/call.ts';
import { floodgate } from './support/command.ts';
import { rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const TOKENS = '/user/tokens';
const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString();
const LATER = new Date(Date.now() + 7_200_000).toISOString();

let server: RulesServer;
const secrets = new Set<string>();
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const create = async (body: unknown, token = TOKEN, headers = {}): Promise<Answer> => {
  const answer = await call(server, { method: 'POST', path: TOKENS, body, token, headers });
  if (answer.status === 200) secrets.add(answer.json.result.value);
  return answer;
};
const created = async (body: object, token = TOKEN): Promise<{ id: string; value: string }> => {
  const { status, json, text } = await create(body, token);
  expect(status, text).toBe(200);
  return json.result;
};
const manager = (more: object = {}) =>
  created({
    label: 'manager',
    accounts: ['a', 'b'],
    permissions: ['dns_protection:write', 'tokens:write'],
    expires_on: IN_AN_HOUR,
    ...more,
  });
const revoke = (id: string, token = TOKEN) =>
  call(server, { method: 'DELETE', path: `${TOKENS}/${id}`, token });
const refusal = ({ status, json }: Answer) => [
  status,
  json.errors.map(({ source }: { source?: { pointer: string } }) => source?.pointer),
];

describe('a token with tokens:write', () => {
  it('cannot grant permissions, accounts or a lifetime that it does not have, and receives every error', async () => {
    const { value } = await manager();
    const within = { accounts: ['a'], permissions: ['dns_protection:read'] };
    for (const [body, pointers] of [
      [{ ...within, permissions: ['dns_protection:audit'] }, ['/permissions']],
      [
        { ...within, permissions: ['dns_protection:read', 'tokens:write', 'dns_protection:audit'] },
        ['/permissions'],
      ],
      [{ ...within, accounts: ['a', 'c'] }, ['/accounts']],
      [{ permissions: within.permissions, all_accounts: true }, ['/all_accounts']],
      [{ ...within, expires_on: LATER }, ['/expires_on']],
      [
        { all_accounts: true, permissions: ['keys:write'], expires_on: LATER },
        ['/all_accounts', '/permissions', '/expires_on'],
      ],
    ] as const)
      expect(refusal(await create(body, value)), JSON.stringify(body)).toEqual([403, pointers]);
    const { json } = await create({ ...within, permissions: ['dns_protection:audit'] }, value);
    expect(json.errors[0].message).toContain('lacks dns_protection:audit');
  });

  it('can grant its own permissions and accounts, until its own expiry by default', async () => {
    const { value, id } = await manager();
    const { json } = await create(
      { label: 'child', accounts: ['b'], permissions: ['dns_protection:read', 'tokens:read'] },
      value,
    );
    const { expires_on } = (await call(server, { path: `${TOKENS}/${id}` })).json.result;
    expect(json.result).toMatchObject({
      label: 'child',
      status: 'active',
      all_accounts: false,
      accounts: ['b'],
      expires_on,
      created_by: id,
      permissions: ['dns_protection:read', 'tokens:read'],
    });
    expect((await call(server, { path: rulesPath('b'), token: json.result.value })).status).toBe(200);
    expect((await call(server, { path: rulesPath('a'), token: json.result.value })).status).toBe(403);
  });

  it('is required to create and revoke tokens: one with tokens:read can only list them, and others cannot', async () => {
    const reader = await created({ accounts: ['a'], permissions: ['tokens:read', 'dns_protection:write'] });
    const body = { accounts: ['a'], permissions: ['dns_protection:read'] };
    expect((await call(server, { path: TOKENS, token: reader.value })).status).toBe(200);
    expect((await create(body, reader.value)).status).toBe(403);
    expect((await revoke(reader.id, reader.value)).status).toBe(403);
    const writer = await created({ all_accounts: true, permissions: ['dns_protection:write', 'keys:write'] });
    for (const answer of [
      await call(server, { path: TOKENS, token: writer.value }),
      await create(body, writer.value),
      await revoke(reader.id, writer.value),
    ])
      expect(answer.status).toBe(403);
  });

  it('cannot see tokens of other accounts, and cannot revoke tokens with more permissions', async () => {
    const { value } = await manager();
    const foreign = await created({ accounts: ['a', 'c'], permissions: ['dns_protection:read'] });
    const everywhere = await created({ all_accounts: true, permissions: ['dns_protection:read'] });
    const auditor = await created({ accounts: ['a'], permissions: ['dns_protection:audit'] });
    const ids = (await call(server, { path: TOKENS, token: value })).json.result.map(
      ({ id }: { id: string }) => id,
    );
    expect(ids).not.toContain(foreign.id);
    expect(ids).not.toContain(everywhere.id);
    expect(ids).toContain(auditor.id);
    for (const { id } of [foreign, everywhere]) {
      expect((await call(server, { path: `${TOKENS}/${id}`, token: value })).status).toBe(404);
      expect((await revoke(id, value)).status).toBe(404);
    }
    expect(refusal(await revoke(auditor.id, value))).toEqual([403, ['/permissions']]);
    expect((await call(server, { path: `${TOKENS}/${auditor.id}` })).json.result.status).toBe('active');
  });

  it('cannot create tokens after it was revoked or has expired, and its rejected requests are counted', async () => {
    const gone = await manager();
    expect((await revoke(gone.id)).json.result.status).toBe('revoked');
    const body = { accounts: ['a'], permissions: ['dns_protection:read'] };
    expect((await create(body, gone.value)).status).toBe(401);
    const late = await manager({ expires_on: new Date(Date.now() + 1_500).toISOString() });
    await expect.poll(async () => (await create(body, late.value)).status, { timeout: HANG_MS }).toBe(401);
    const shown = (await call(server, { path: `${TOKENS}/${late.id}` })).json.result;
    expect(shown).toMatchObject({ status: 'expired' });
    expect(shown.requests.rejected).toBeGreaterThan(0);
  });

  it('is revoked with the tokens that it created, which a message lists', async () => {
    const leaked = await manager();
    const body = { accounts: ['a'], permissions: ['dns_protection:read', 'tokens:write'] };
    const child = await created(body, leaked.value);
    const grandchild = await created(body, child.value);
    const { json } = await revoke(leaked.id);
    expect(json.messages).toEqual([{ code: 10111, message: expect.stringContaining(child.id) }]);
    expect(json.messages[0].message).toContain(grandchild.id);
    for (const { value } of [leaked, child, grandchild])
      expect((await call(server, { path: rulesPath('a'), token: value })).status).toBe(401);
    expect((await revoke(leaked.id)).json).toMatchObject({ result: { status: 'revoked' }, messages: [] });
  });

  it('creates at most 99 tokens below itself, and stops no other tenant and no operator', async () => {
    const body = { accounts: ['a'], permissions: ['dns_protection:read', 'tokens:write'] };
    const [greedy, polite] = [await manager(), await manager()];
    const child = await created(body, greedy.value);
    const creators = [greedy.value, child.value];
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, i) => create(body, creators[i % creators.length])),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(98);
    const refused = answers.find(({ status }) => status !== 200);
    expect([refused?.status, refused?.json.errors[0].message]).toEqual([
      409,
      `The tree of the token ${greedy.id} has 100 valid tokens, the maximum; revoke one first`,
    ]);
    for (const secret of [polite.value, TOKEN]) await created(body, secret);
    await revoke(greedy.id);
  });
});

describe('a token created over the API', () => {
  it('is in the response of its creation, and in no list, log, audit entry or file', async () => {
    const { id, value } = await created({
      label: 'once',
      accounts: ['a'],
      permissions: ['dns_protection:read'],
    });
    expect(value).toMatch(/^fg_[A-Za-z0-9]{40}$/);
    expect(
      (await create({ label: 'x', accounts: ['a'], permissions: ['tokens:read'] })).headers['cache-control'],
    ).toBe('no-store');
    const env = { FLOODGATE_DATA_DIR: server.dataDir };
    const audit = (await floodgate(['audit', '--all', '--json'], { env })).stdout;
    const entry = audit.split('\n').flatMap((line) => (line.includes(id) ? [JSON.parse(line)] : []));
    expect(entry).toMatchObject([
      {
        action: 'token.create',
        by: expect.stringMatching(/^configured:[0-9a-f]{16}$/),
        token: id,
        after: { label: 'once' },
      },
    ]);
    const places = [
      (await call(server, { path: `${TOKENS}?per_page=1000` })).text,
      (await call(server, { path: `${TOKENS}/${id}` })).text,
      audit,
      server.output(),
      readFileSync(join(server.dataDir, 'rules', 'data.mdb')).toString('latin1'),
    ];
    for (const secret of secrets) for (const place of places) expect(place).not.toContain(secret);
    // The list does not contain the hashes either.
    expect(places[0]).not.toMatch(/[0-9a-f]{64}/);
  });

  it('is returned again if its creation is repeated with the same Idempotency-Key', async () => {
    const body = { label: 'retried', accounts: ['a'], permissions: ['dns_protection:read'] };
    const again = (wanted: object, token = TOKEN) => create(wanted, token, { 'idempotency-key': 'one' });
    const [first, second] = await Promise.all([again(body), again(body)]);
    const third = await again(body);
    expect([first.status, second.status, third.status]).toEqual([200, 200, 200]);
    expect(new Set([first, second, third].map(({ json }) => json.result.value)).size).toBe(1);
    expect(new Set([first, second, third].map(({ json }) => json.result.id)).size).toBe(1);
    expect(third.headers['idempotent-replayed']).toBe('true');
    expect((await again({ ...body, label: 'another' })).status).toBe(422);
    // An idempotency key applies to one token only.
    const { value } = await manager();
    expect((await again(body, value)).json.result.id).not.toBe(first.json.result.id);
    expect((await create(body, TOKEN, { 'idempotency-key': 'ü' })).status).toBe(400);
  });

  it('is rejected with all errors of its body', async () => {
    const ok = { accounts: ['a'], permissions: ['dns_protection:read'] };
    for (const [body, pointers] of [
      [{}, ['/permissions']],
      [{ permissions: ok.permissions }, ['/accounts']],
      [{ ...ok, all_accounts: true }, ['/accounts']],
      [{ ...ok, accounts: [] }, ['/accounts']],
      [{ ...ok, accounts: ['no such/id'] }, ['/accounts']],
      [{ ...ok, accounts: Array.from({ length: 101 }, (_, i) => `a${i}`) }, ['/accounts']],
      [{ ...ok, permissions: [] }, ['/permissions']],
      [{ ...ok, permissions: ['everything'] }, ['/permissions']],
      [{ ...ok, permissions: ['nodes:write'] }, ['/permissions']],
      [{ ...ok, expires_on: '2001-01-01T00:00:00Z' }, ['/expires_on']],
      [{ ...ok, expires_on: 'tomorrow' }, ['/expires_on']],
      [{ ...ok, label: 'a\u202eb', hash: 'x' }, ['/label', '/hash']],
      [[], [undefined]],
    ] as const)
      expect(refusal(await create(body)), JSON.stringify(body)).toEqual([400, pointers]);
    expect((await create('{')).status).toBe(400);
  });

  it('has the time of its last use and the number of its requests', async () => {
    const { id, value } = await created({ accounts: ['a'], permissions: ['dns_protection:read'] });
    const shown = async () => (await call(server, { path: `${TOKENS}/${id}` })).json.result;
    expect(await shown()).toMatchObject({ requests: { count: 0, rejected: 0 } });
    expect(await shown()).not.toHaveProperty('last_used_on');
    const before = Date.now();
    await call(server, { path: rulesPath('a'), token: value });
    await call(server, { path: rulesPath('c'), token: value });
    const used = await shown();
    expect(used.requests).toEqual({ count: 2, rejected: 1 });
    expect(Date.parse(used.last_used_on)).toBeGreaterThanOrEqual(before - 1);
  });

  it('is found by its exact id only', async () => {
    for (const id of ['x', '0'.repeat(32), '%2e%2e']) expect((await revoke(id)).status, id).toBe(404);
    expect((await send(server, { method: 'DELETE', path: `${TOKENS}/` })).status).toBe(404);
    // These paths exist for GET and are not tokens.
    for (const path of [`${TOKENS}/verify`, `${TOKENS}/verify/`, `${TOKENS}/current`])
      expect((await send(server, { method: 'DELETE', path })).status, path).toBe(405);
    expect((await call(server, { method: 'PATCH', path: TOKENS })).status).toBe(405);
  });

  it("is listed and deleted by Cloudflare's official client", async () => {
    const client = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl });
    const { id } = await created({ label: 'for the client', accounts: ['a'], permissions: ['tokens:read'] });
    const ids: unknown[] = [];
    for await (const token of client.user.tokens.list({ per_page: 1000 }))
      ids.push((token as { id?: string }).id);
    expect(ids).toContain(id);
    await client.user.tokens.delete(id);
    expect((await call(server, { path: `${TOKENS}/${id}` })).json.result.status).toBe('revoked');
  });
});
