import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from './support/call.ts';
import { clientEnvironment, floodgate } from './support/command.ts';
import { newRule } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

const done = { success: true, errors: [], messages: [] };
const MISSING = '31c70c65-9f81-4669-94ed-1e1e041e7b06';

let server: RulesServer;
let accounts = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const pathOf = (list: string, account = `lists-${++accounts}`): string =>
  `/accounts/${account}/network/advanced_dns_protection/configs/${list}`;
const send = (method: string, path: string, body?: unknown) =>
  call(server, { method, path, ...(body !== undefined && { body }) });

describe.each(['allowlist', 'denylist'])('the %s API', (list) => {
  it('creates, lists, reads, changes and deletes entries for networks and names', async () => {
    const path = pathOf(list);
    const created = await send('POST', path, { prefix: '192.0.2.0/24', comment: 'a partner' });
    expect(created.status).toBe(200);
    const { result, ...rest } = created.json;
    expect(rest).toEqual(done);
    expect(Object.keys(result)).toEqual(['id', 'prefix', 'comment', 'enabled', 'created_on', 'modified_on']);
    expect(result).toMatchObject({ prefix: '192.0.2.0/24', comment: 'a partner', enabled: true });
    const named = (await send('POST', path, { name: 'www.example.test', enabled: false })).json.result;
    expect(named).toMatchObject({ name: 'www.example.test', comment: '', enabled: false });
    const listed = await send('GET', path);
    expect(listed.json).toEqual({
      ...done,
      result: [result, named],
      result_info: { page: 1, per_page: 1000, count: 2, total_count: 2, total_pages: 1 },
    });
    expect((await send('GET', `${path}?page=2&per_page=1`)).json.result).toEqual([named]);
    expect((await send('GET', `${path}/${result.id}`)).headers['etag']).toBe(created.headers['etag']);
    const changed = await send('PATCH', `${path}/${result.id}`, { enabled: false });
    expect(changed.json.result).toMatchObject({ ...result, enabled: false, modified_on: expect.any(String) });
    const whole = { ...changed.json.result, comment: 'still a partner' };
    expect((await send('PATCH', `${path}/${result.id}`, whole)).json.result).toMatchObject({
      prefix: '192.0.2.0/24',
      comment: 'still a partner',
      enabled: false,
    });
    const stale = { headers: { 'if-match': String(created.headers['etag']) } };
    const one = { path: `${path}/${result.id}`, ...stale };
    expect((await call(server, { method: 'PATCH', body: { comment: '' }, ...one })).status).toBe(412);
    expect((await call(server, { method: 'DELETE', ...one })).status).toBe(412);
    expect((await send('DELETE', `${path}/${result.id}`)).json).toEqual(done);
    expect((await send('GET', `${path}/${result.id}`)).status).toBe(404);
    expect((await send('DELETE', path)).json).toEqual(done);
    expect((await send('GET', path)).json.result).toEqual([]);
  });

  it('returns 304 for a current If-None-Match, and accepts a slash after the id', async () => {
    const path = pathOf(list);
    const { id } = (await send('POST', path, { prefix: '192.0.2.7' })).json.result;
    for (const one of [path, `${path}/${id}`, `${path}?page=1`]) {
      const etag = String((await send('GET', one)).headers['etag']);
      const again = { path: one, headers: { 'if-none-match': etag } };
      expect((await call(server, again)).status).toBe(304);
      expect((await send('PATCH', `${path}/${id}/`, { comment: one })).json.result.comment).toBe(one);
      expect((await call(server, again)).status).toBe(200);
    }
    expect((await send('PATCH', `${path}/`, {})).status).toBe(405);
    expect((await send('PATCH', `${path}//`, {})).status).toBe(404);
  });

  it('rejects an invalid entry with all its errors, and an unknown entry with 404', async () => {
    const path = pathOf(list);
    const refused = await send('POST', path, { prefix: '192.0.2.7/24', comment: 7, why: 1 });
    expect(refused.status).toBe(400);
    expect(refused.json.errors.map(({ source }: { source: object }) => source)).toEqual(
      ['/prefix', '/comment', '/why'].map((pointer) => ({ pointer })),
    );
    expect((await send('POST', path, '{')).status).toBe(400);
    expect((await send('PATCH', `${path}/${MISSING}`, {})).status).toBe(404);
    expect((await send('DELETE', `${path}/nonsense`)).status).toBe(404);
    expect((await send('DELETE', `${path}/`)).status).toBe(404);
    expect((await send('PUT', path, {})).status).toBe(405);
    expect((await call(server, { path, token: null })).status).toBe(401);
  });
});

it('access lists belong to one account, and the audit log contains every change of them', async () => {
  const path = pathOf('denylist', 'audited');
  const { id } = (await send('POST', path, { prefix: '198.51.100.7' })).json.result;
  expect((await send('GET', pathOf('denylist', 'another'))).json.result).toEqual([]);
  await send('PATCH', `${path}/${id}`, { enabled: false });
  const { stdout } = await floodgate(['audit', '--account', 'audited', '--data-dir', server.dataDir], {
    env: clientEnvironment(server, 'audited'),
  });
  expect(stdout).toMatch(/list\.create.*denylist: 198\.51\.100\.7, enabled/);
  const audit = `/accounts/audited/network/advanced_dns_protection/configs/dns_protection/audit`;
  await send('POST', audit.replace(/audit$/, 'rules'), newRule);
  const { result } = (await send('GET', audit)).json;
  expect(result).toMatchObject([
    { action: 'rule.create', after: { mode: newRule.mode } },
    {
      action: 'list.update',
      list: 'denylist',
      entry: id,
      before: { enabled: true },
      after: { enabled: false },
    },
    { action: 'list.create', account: 'audited', after: { id, prefix: '198.51.100.7' } },
  ]);
  const { json } = await send('GET', `${audit}?rule_id=${result[0].rule}`);
  expect(json).toMatchObject({ result: [result[0]], result_info: { count: 1 } });
  expect(json.result_info).not.toHaveProperty('cursor');
  expect(stdout).toMatch(/list\.update.*denylist: 198\.51\.100\.7, not enabled/);
});
