import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from './support/call.ts';
import { clientEnvironment, floodgate } from './support/command.ts';
import { rulesPath, zonesPath } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

const done = { success: true, errors: [], messages: [] };
const MISSING = '31c70c65-9f81-4669-94ed-1e1e041e7b06';
const settings = {
  mode: 'inherit',
  judge_by: 'auto',
  rate: null,
  burst: null,
  unknown_per_second: null,
  profile_sensitivity: null,
  rate_sensitivity: null,
  burst_sensitivity: null,
  only_when_upstream_unhealthy: false,
  comment: '',
};

let server: RulesServer;
let accounts = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const newPath = (family: 'network' | 'magic' = 'network') => zonesPath(`zones-${++accounts}`, family);
const send = (method: string, path: string, body?: unknown) =>
  call(server, { method, path, ...(body !== undefined && { body }) });
const sendWith = (
  headers: Record<string, string>,
  method: string,
  request: { path: string; body?: unknown },
) => call(server, { method, headers, ...request });

describe('the API of zone policies', () => {
  it.each(['network', 'magic'] as const)(
    'creates, lists, reads, changes and deletes policies below /%s/',
    async (family) => {
      const path = newPath(family);
      const created = await send('POST', path, { zone: 'Example.COM.' });
      expect(created.status).toBe(200);
      const { result, ...rest } = created.json;
      expect(rest).toEqual(done);
      expect(Object.keys(result)).toEqual([
        'id',
        'zone',
        ...Object.keys(settings),
        'created_on',
        'modified_on',
      ]);
      expect(result).toMatchObject({ zone: 'example.com', ...settings });
      const rated = { zone: 'bl.example.com', judge_by: 'rate', rate: 2000, comment: 'a blocklist' };
      const second = (await send('POST', path, rated)).json.result;
      expect(second).toMatchObject(rated);
      expect((await send('GET', path)).json).toEqual({
        ...done,
        result: [result, second],
        result_info: { page: 1, per_page: 1000, count: 2, total_count: 2, total_pages: 1 },
      });
      expect((await send('GET', `${path}?page=2&per_page=1`)).json.result).toEqual([second]);
      expect((await send('GET', `${path}?order=zone`)).json.result).toEqual([second, result]);
      expect((await send('GET', `${path}?order=zone&direction=desc`)).json.result).toEqual([result, second]);
      expect((await send('GET', `${path}/${result.id}`)).headers['etag']).toBe(created.headers['etag']);
      const patch = { rate: null, mode: 'monitoring', zone: 'BL.example.com.' };
      const changed = (await send('PATCH', `${path}/${second.id}`, patch)).json.result;
      expect(changed).toEqual({ ...second, rate: null, mode: 'monitoring', modified_on: expect.any(String) });
      expect((await send('PATCH', `${path}/${second.id}`, {})).json.result).toEqual(changed);
      expect((await send('DELETE', `${path}/${result.id}`)).json).toEqual(done);
      expect((await send('GET', `${path}/${result.id}`)).status).toBe(404);
      expect((await send('DELETE', path)).json).toEqual(done);
      expect((await send('GET', path)).json.result).toEqual([]);
    },
  );

  it('rejects a second policy for a zone with 409, however its name is written', async () => {
    const path = newPath();
    const { id } = (await send('POST', path, { zone: 'a\\.b.example' })).json.result;
    for (const zone of ['a\\.b.example', 'A\\046B.Example.']) {
      const refused = await send('POST', path, { zone });
      expect([refused.status, refused.json.errors]).toEqual([
        409,
        [
          {
            code: 10411,
            message: `The zone "a\\\\046b.example" already has a policy, ${id}; change that one`,
          },
        ],
      ]);
      expect(refused.headers['x-should-retry']).toBe('false');
    }
    expect((await send('POST', path, { zone: 'b.example' })).status).toBe(200);
  });

  it('returns the first result for a repeated Idempotency-Key, and 422 for another policy', async () => {
    const path = newPath();
    const key = { 'idempotency-key': 'k-1' };
    const first = await sendWith(key, 'POST', { path, body: { zone: 'example.com' } });
    const again = await sendWith(key, 'POST', { path, body: { zone: 'EXAMPLE.com', mode: 'inherit' } });
    expect(again.json).toEqual(first.json);
    expect([first, again].map(({ headers }) => headers['idempotent-replayed'])).toEqual([undefined, 'true']);
    expect((await sendWith(key, 'POST', { path, body: { zone: 'example.net' } })).status).toBe(422);
    expect((await send('GET', path)).json.result).toHaveLength(1);
  });

  it('rejects outdated changes with 412, and returns 304 for a current If-None-Match', async () => {
    const path = newPath();
    const created = await send('POST', path, { zone: 'example.com' });
    const one = `${path}/${created.json.result.id}`;
    const stale = { 'if-match': String(created.headers['etag']) };
    expect((await sendWith(stale, 'PATCH', { path: one, body: { rate: 7 } })).status).toBe(200);
    expect((await sendWith(stale, 'PATCH', { path: one, body: { rate: 8 } })).status).toBe(412);
    expect((await sendWith(stale, 'DELETE', { path: one })).status).toBe(412);
    expect((await sendWith(stale, 'DELETE', { path })).status).toBe(412);
    for (const read of [path, one, `${path}?page=1`]) {
      const known = { 'if-none-match': String((await send('GET', read)).headers['etag']) };
      expect((await sendWith(known, 'GET', { path: read })).status).toBe(304);
      await send('PATCH', one, { comment: read });
      expect((await sendWith(known, 'GET', { path: read })).status).toBe(200);
    }
  });

  it('rejects an invalid policy with all its errors, and an unknown policy with 404', async () => {
    const path = newPath();
    const pointersOf = async (method: string, to: string, body: unknown) => {
      const { status, json } = await send(method, to, body);
      return [status, ...json.errors.map(({ source }: { source?: { pointer: string } }) => source?.pointer)];
    };
    expect(await pointersOf('POST', path, { zone: 'a..b', rate: 0, why: 1 })).toEqual([
      400,
      '/zone',
      '/rate',
      '/why',
    ]);
    expect(await pointersOf('POST', path, {})).toEqual([400, '/zone']);
    const { id } = (await send('POST', path, { zone: 'example.com' })).json.result;
    const body = { zone: 'example.net', mode: null, burst: 2_000_001 };
    expect(await pointersOf('PATCH', `${path}/${id}`, body)).toEqual([400, '/mode', '/burst', '/zone']);
    expect(await pointersOf('GET', `${path}?order=rate`, undefined)).toEqual([400, '/order']);
    expect((await send('POST', path, '{')).status).toBe(400);
    expect((await send('PATCH', `${path}/${MISSING}`, {})).status).toBe(404);
    expect((await send('DELETE', `${path}/nonsense`)).status).toBe(404);
    expect((await send('DELETE', `${path}/`)).status).toBe(404);
    expect((await send('PATCH', `${path}/`, {})).status).toBe(405);
    expect((await send('PUT', path, {})).status).toBe(405);
    expect((await call(server, { path, token: null })).status).toBe(401);
    expect((await send('GET', path)).json.result).toHaveLength(1);
  });
});

it('zone policies belong to one account, and the audit log contains every change of them', async () => {
  const path = zonesPath('audited');
  const { id } = (await send('POST', path, { zone: 'example.com' })).json.result;
  expect((await send('GET', zonesPath('another'))).json.result).toEqual([]);
  await send('PATCH', `${path}/${id}`, { rate: 7 });
  await send('DELETE', path);
  const { result } = (await send('GET', rulesPath('audited').replace(/rules$/, 'audit'))).json;
  const common = { account: 'audited', zone: 'example.com', policy: id };
  expect(result).toMatchObject([
    { ...common, action: 'zone.delete', before: { rate: 7 } },
    { ...common, action: 'zone.update', before: { rate: null }, after: { rate: 7 } },
    { ...common, action: 'zone.create', after: { id, zone: 'example.com' } },
  ]);
  const { stdout } = await floodgate(['audit', '--account', 'audited', '--data-dir', server.dataDir], {
    env: clientEnvironment(server, 'audited'),
  });
  expect(stdout).toMatch(/zone\.create .* example\.com, inherit/);
  expect(stdout).toMatch(/zone\.update .* example\.com: rate: null → 7/);
  expect(stdout).toMatch(/zone\.delete .* example\.com, inherit/);
});
