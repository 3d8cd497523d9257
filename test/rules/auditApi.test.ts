import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from './support/call.ts';
import { floodgate } from './support/command.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, startServerProcess } from './support/server.ts';

let server: RulesServer;
beforeAll(async () => {
  server = await startServer({ args: ['--http-trusted-proxies', '127.0.0.1'] });
});
afterAll(() => server.stop());

const run = (...args: string[]) => floodgate(args, { env: { FLOODGATE_DATA_DIR: server.dataDir } });
const token = async (...flags: string[]) =>
  JSON.parse((await run('token', 'create', '--json', ...flags)).stdout) as { id: string; token: string };
const auditPath = (account: string, query = '') => `${rulesPath(account).replace(/rules$/, 'audit')}${query}`;
const create = async (account: string, more: object = {}) =>
  (await call(server, { method: 'POST', path: rulesPath(account), body: newRule, ...more })).json.result;

describe('GET …/audit', () => {
  it('returns the client address from a trusted proxy and the label of the token', async () => {
    const writer = await token('--account', 'a', '--label', 'pipeline');
    const headers = { 'x-forwarded-for': '198.51.100.9, 192.0.2.7' };
    const rule = await create('a', { token: writer.token, headers });
    const path = `${rulesPath('a')}/${rule.id}`;
    await call(server, { method: 'DELETE', path, token: writer.token, headers });
    const common = { by: writer.id, label: 'pipeline', from: '192.0.2.7', account: 'a', rule: rule.id };
    const { json } = await call(server, { path: auditPath('a', `?rule_id=${rule.id}`) });
    expect(json.result).toEqual([
      { ...common, at: expect.any(String), action: 'rule.delete', before: rule },
      { ...common, at: rule.created_on, action: 'rule.create', after: rule },
    ]);
    expect(json.result_info).toEqual({ per_page: 100, count: 2 });
    expect((await run('audit', '--account', 'a')).stdout).toContain(`${writer.id} (pipeline)  192.0.2.7`);
  });

  it('requires the audit permission for the account', async () => {
    const path = auditPath('b');
    const statuses = async (secret: string | null) => [
      (await call(server, { path, token: secret })).status,
      (await call(server, { path: rulesPath('b'), token: secret })).status,
    ];
    const all = ['read', 'write'];
    expect(await statuses((await token('--account', 'b')).token)).toEqual([403, 200]);
    expect(await statuses((await token('--account', 'b', '--permission', ...all)).token)).toEqual([403, 200]);
    expect(await statuses((await token('--account', 'b', '--permission', 'audit')).token)).toEqual([
      200, 403,
    ]);
    expect(await statuses((await token('--account', 'c', '--permission', 'audit')).token)).toEqual([
      403, 403,
    ]);
    expect(await statuses(null)).toEqual([401, 401]);
  });

  it('returns the entries of one account, newest first, with paging and filters for time and rule', async () => {
    const made = [];
    for (let index = 0; index < 5; index++) made.push(await create(index === 2 ? 'other' : 'd'));
    const mine = made.filter((_, index) => index !== 2);
    const { token: secret } = await token('--account', 'd', '--permission', 'audit');
    const read = async (query: string) =>
      (await call(server, { path: auditPath('d', query), token: secret })).json;
    const ids = async (query: string) => (await read(query)).result.map(({ rule }: { rule: string }) => rule);
    const newestFirst = mine.map(({ id }) => id).reverse();
    expect(await ids('')).toEqual(newestFirst);
    const first = await read('?per_page=3');
    const rest = await read(`?per_page=3&cursor=${first.result_info.cursor}`);
    expect([...first.result, ...rest.result].map(({ rule }) => rule)).toEqual(newestFirst);
    expect([first.result_info.count, rest.result_info]).toEqual([3, { per_page: 3, count: 1 }]);
    const second = encodeURIComponent(mine[1].created_on);
    expect(await ids(`?since=${second}`)).toEqual(newestFirst.slice(0, 3));
    expect(await ids(`?until=${second}`)).toEqual(newestFirst.slice(2));
    expect(await ids(`?since=${second}&until=${second}`)).toEqual([mine[1].id]);
    expect(await ids(`?rule_id=${mine[0].id.toUpperCase()}`)).toEqual([mine[0].id]);
    expect(await ids('?since=2099-01-01T00:00:00Z')).toEqual([]);
  });

  it('contains changes of tokens that the caller may list', async () => {
    const lead = await token('--account', 'e', '--permission', 'audit', 'tokens:write', '--label', 'lead');
    const auditor = await token('--account', 'e', '--permission', 'audit');
    const other = await token('--account', 'f');
    const body = { label: 'ci', accounts: ['e'], permissions: ['tokens:read'] };
    const request = { method: 'POST', path: '/user/tokens', token: lead.token, body };
    const made = (await call(server, request)).json.result;
    await call(server, { method: 'DELETE', path: `/user/tokens/${made.id}`, token: lead.token });
    const read = async (token: string) => (await call(server, { path: auditPath('e'), token })).json.result;
    const created = {
      label: 'ci',
      all_accounts: false,
      accounts: ['e'],
      permissions: ['tokens:read'],
      created_on: made.created_on,
      created_by: lead.id,
    };
    const by = { by: lead.id, label: 'lead', from: '127.0.0.1', token: made.id };
    const changes = await read(lead.token);
    expect(changes).toEqual([
      {
        ...by,
        at: expect.any(String),
        action: 'token.revoke',
        before: created,
        after: { ...created, revoked_on: expect.any(String) },
      },
      { ...by, at: made.created_on, action: 'token.create', after: created },
      expect.objectContaining({ action: 'token.create', token: auditor.id }),
      expect.objectContaining({ from: 'local', action: 'token.create', token: lead.id }),
    ]);
    expect(JSON.stringify(changes)).not.toMatch(new RegExp(`hash|${other.id}|${made.value}`));
    expect(await read(auditor.token)).toEqual([]);
  });

  it.each([
    ['since', 'yesterday'],
    ['since', '2026-13-01T00:00:00Z'],
    ['until', '2026-11-20'],
    ['per_page', '0'],
    ['per_page', '1001'],
    ['cursor', '-'],
    ['rule_id', ''],
    ['since', '2026-11-21T00:00:00Z&until=2026-11-20T00:00:00Z'],
  ])('rejects %s=%s with 400', async (name, value) => {
    const { status, json } = await call(server, { path: auditPath('a', `?${name}=${value}`) });
    expect([status, json.errors[0].source]).toEqual([400, { pointer: `/${name}` }]);
  });
});

it('the server logs no error if a client disconnects during its request', async () => {
  const own = await startServerProcess();
  const { hostname, port } = new URL(own.baseUrl);
  for (const length of ['content-length: 1000', 'transfer-encoding: chunked']) {
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /client/v4${rulesPath('a')} HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n` +
        `authorization: Bearer fg_test_token_that_may_do_everything_0000\r\n${length}\r\n\r\n`,
    );
    // "100 Continue": the server is reading the body.
    await once(socket, 'data');
    socket.end(length.startsWith('content') ? '{"scope"' : '8\r\n{"scope"\r\n');
    socket.destroy();
    await once(socket, 'close');
  }
  expect((await call(own, { path: rulesPath('a') })).status).toBe(200);
  await own.stop();
  expect(own.output()).toContain('stopped');
  // A gateway in the same process logs that its node is missing; ignore that.
  const lines = own.output().replaceAll(/^.*"network":"mainnet".*$/gm, '');
  expect(lines).not.toMatch(/"level":[456]0/);
});
