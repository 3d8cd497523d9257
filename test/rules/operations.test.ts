import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Call, call } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}\+00:00$/;
const done = { success: true, errors: [], messages: [] };

let server: RulesServer;
let accounts = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Returns the path of the rules of a new account. */
function freshPath(family: 'network' | 'magic' = 'network'): string {
  accounts++;
  return rulesPath(`account-${accounts}`, family);
}

async function create(path: string, fields: object = {}) {
  const answer = await call(server, { method: 'POST', path, body: { ...newRule, ...fields } });
  expect(answer.status, answer.text).toBe(200);
  return answer.json.result;
}

const patch = (path: string, body: unknown, more: Partial<Call> = {}) =>
  call(server, { method: 'PATCH', path, body, ...more });

describe('POST …/rules', () => {
  it('returns the rule with its nine fields in the documented order', async () => {
    const answer = await call(server, { method: 'POST', path: freshPath(), body: newRule });
    expect(answer.status).toBe(200);
    const { result, ...rest } = answer.json;
    expect(rest).toEqual(done);
    expect(result).toEqual({
      ...newRule,
      id: expect.stringMatching(uuid),
      created_on: expect.stringMatching(timestamp),
      modified_on: result.created_on,
    });
    expect(Object.keys(result)).toEqual([
      'id',
      'scope',
      'name',
      'mode',
      'profile_sensitivity',
      'rate_sensitivity',
      'burst_sensitivity',
      'created_on',
      'modified_on',
    ]);
  });

  it('accepts every allowed value of every field', async () => {
    const path = freshPath();
    const values = {
      scope: ['global', 'region', 'datacenter'],
      mode: ['enabled', 'monitoring', 'disabled'],
      profile_sensitivity: ['low', 'medium', 'high', 'very_high'],
      rate_sensitivity: ['low', 'medium', 'high'],
      burst_sensitivity: ['low', 'medium', 'high'],
    };
    for (const [field, allowed] of Object.entries(values))
      for (const value of allowed) expect((await create(path, { [field]: value }))[field]).toBe(value);
  });

  it.each([
    ['curl’s form type', 'application/x-www-form-urlencoded'],
    ['JSON', 'application/json; charset=utf-8'],
    ['an invalid type', ';;;'],
    ['text', 'text/plain'],
    ['another character set', 'application/json; charset=latin1'],
  ])('parses the body as JSON if its content type is %s', async (_, type) => {
    const sent = { method: 'POST', path: freshPath(), body: newRule, headers: { 'content-type': type } };
    expect((await call(server, sent)).status).toBe(200);
  });

  it('keeps names of up to 64 characters unchanged, in any script and case', async () => {
    for (const name of ['n'.repeat(64), '🌊'.repeat(64), 'WEUR', 'wnam', 'Ōsaka 大阪'])
      expect((await create(freshPath(), { scope: 'global', name })).name).toBe(name);
    for (const name of ['n'.repeat(64), 'WEUR', 'wnam', '!"#~'])
      expect((await create(freshPath(), { scope: 'region', name })).name).toBe(name);
  });

  it('rejects names of regions and datacenters that are not visible ASCII', async () => {
    for (const scope of ['region', 'datacenter'])
      for (const name of ['Zürich', '大阪', '\u212aln', 'new york', 'a\u00a0b']) {
        const sent = { method: 'POST', path: freshPath(), body: { ...newRule, scope, name } };
        const { status, json } = await call(server, sent);
        expect([status, json.errors]).toEqual([
          400,
          [
            {
              code: 10001,
              message: `name must be a string of 1 to 64 visible ASCII characters without spaces, because the scope is region or datacenter; got ${JSON.stringify(name)}`,
              source: { pointer: '/name' },
            },
          ],
        ]);
      }
  });

  it('trims blanks around a name', async () => {
    expect((await create(freshPath(), { name: ' \tlax \n' })).name).toBe('lax');
  });

  it('names older rules with the same target in its messages', async () => {
    const path = freshPath();
    const older = await create(path, { scope: 'region', name: 'WEUR' });
    await create(path, { scope: 'datacenter', name: 'weur' });
    const body = { ...newRule, scope: 'region', name: 'weur' };
    const { messages } = (await call(server, { method: 'POST', path, body })).json;
    expect(messages).toEqual([{ code: 10110, message: expect.stringContaining(older.id) }]);
  });

  it('treats all global rules as rules with the same target', async () => {
    const path = freshPath();
    await create(path, { name: 'a' });
    const answer = await call(server, { method: 'POST', path, body: { ...newRule, name: 'b' } });
    expect(answer.json.messages).toHaveLength(1);
  });

  it('rejects the 1,001st rule with 409, and accepts it after a deletion', async () => {
    const path = freshPath();
    for (let round = 0; round < 20; round++)
      await Promise.all(Array.from({ length: 50 }, () => create(path, { scope: 'region', name: 'WEUR' })));
    const oneMore = { method: 'POST', path, body: newRule };
    const refused = await call(server, oneMore);
    expect([refused.status, refused.json.errors[0].code]).toEqual([409, 10409]);
    const { result } = (await call(server, { path: `${path}?per_page=1` })).json;
    await call(server, { method: 'DELETE', path: `${path}/${result[0].id}` });
    expect((await call(server, oneMore)).status).toBe(200);
  });
});

describe('GET …/rules', () => {
  it('returns an empty list if there is no rule', async () => {
    expect((await call(server, { path: freshPath() })).json).toEqual({
      result: [],
      ...done,
      result_info: { page: 1, per_page: 1000, count: 0, total_count: 0, total_pages: 0 },
    });
  });

  it('returns the rules in the order of their creation', async () => {
    const path = freshPath();
    const created = [await create(path), await create(path), await create(path)];
    await patch(`${path}/${created[0].id}`, { mode: 'disabled' });
    const { result } = (await call(server, { path })).json;
    expect(result.map((rule: { id: string }) => rule.id)).toEqual(created.map((rule) => rule.id));
  });

  it('returns pages, and an empty one after the last', async () => {
    const path = freshPath();
    const ids = [];
    for (let index = 0; index < 5; index++) ids.push((await create(path)).id);
    const pages = [];
    for (const page of [1, 2, 3, 4, Number.MAX_SAFE_INTEGER]) {
      const { result, result_info } = (await call(server, { path: `${path}?page=${page}&per_page=2` })).json;
      const info = { page, per_page: 2, count: result.length, total_count: 5, total_pages: 3 };
      expect(result_info).toEqual(info);
      pages.push(result.map((rule: { id: string }) => rule.id));
    }
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4), [], []]);
    expect((await call(server, { path: `${path}?page=2` })).json.result).toEqual([]);
  });

  it.each([
    ['order=created_on', 'zam'],
    ['direction=DESC', 'maz'],
    ['order=name', 'amz'],
    ['order=name&direction=desc', 'zma'],
    ['order=modified_on', 'amz'],
    ['order=modified_on&direction=DESC', 'zma'],
    ['order=scope', 'mza'],
    ['order=mode', 'mza'],
    ['order=mode&direction=Desc', 'azm'],
    ['unknown=1', 'zam'],
  ])('sorts the rules with %s as %s', async (query, names) => {
    const path = freshPath();
    const z = await create(path, { name: 'z', scope: 'global', mode: 'enabled' });
    await create(path, { name: 'a', scope: 'region', mode: 'monitoring' });
    await create(path, { name: 'm', scope: 'datacenter', mode: 'disabled' });
    await patch(`${path}/${z.id}`, { rate_sensitivity: 'high' });
    const { result } = (await call(server, { path: `${path}?${query}` })).json;
    expect(result.map((rule: { name: string }) => rule.name).join('')).toBe(names);
  });

  it('returns only the rules of its account', async () => {
    await create(rulesPath('acc'));
    await create(rulesPath('acc-'));
    expect((await call(server, { path: rulesPath('acc') })).json.result).toHaveLength(1);
    expect((await call(server, { path: rulesPath('ac') })).json.result).toHaveLength(0);
  });

  it('returns the same under /network/ and /magic/, with and without a trailing slash', async () => {
    const path = freshPath();
    const { id } = await create(path);
    const magic = path.replace('/network/', '/magic/');
    for (const collection of [path, magic])
      for (const slash of ['', '/']) {
        expect((await call(server, { path: collection + slash })).json.result[0].id).toBe(id);
        expect((await call(server, { path: `${collection}/${id}${slash}` })).json.result.id).toBe(id);
      }
  });

  it('answers HEAD without a body', async () => {
    const answer = await call(server, { method: 'HEAD', path: freshPath() });
    expect([answer.status, answer.text]).toEqual([200, '']);
  });
});

describe('PATCH …/rules/ID', () => {
  it.each([
    [{ mode: 'monitoring' }],
    [{ profile_sensitivity: 'very_high' }],
    [{ rate_sensitivity: 'high' }],
    [{ burst_sensitivity: 'medium' }],
    [
      {
        mode: 'disabled',
        profile_sensitivity: 'medium',
        rate_sensitivity: 'medium',
        burst_sensitivity: 'high',
      },
    ],
  ])('changes %j and no other field', async (fields) => {
    const path = freshPath();
    const before = await create(path);
    const answer = await patch(`${path}/${before.id}`, fields);
    const { modified_on } = answer.json.result;
    expect(answer.json).toEqual({ result: { ...before, ...fields, modified_on }, ...done });
    expect(modified_on > before.modified_on).toBe(true);
    expect((await call(server, { path: `${path}/${before.id}` })).json).toEqual(answer.json);
    expect((await call(server, { path })).json.result).toEqual([answer.json.result]);
  });

  it('returns the unchanged rule if nothing differs', async () => {
    const path = freshPath();
    const rule = await create(path);
    for (const body of [{}, { mode: rule.mode }, rule])
      expect((await patch(`${path}/${rule.id}`, body)).json.result).toEqual(rule);
  });

  it('accepts the whole rule with a changed setting', async () => {
    const path = freshPath();
    const rule = await create(path);
    const answer = await patch(`${path}/${rule.id}`, { ...rule, mode: 'disabled' });
    expect(answer.json.result.mode).toBe('disabled');
  });

  it.each(['scope', 'name', 'id', 'created_on', 'modified_on'])('rejects a change of %s', async (field) => {
    const path = freshPath();
    const rule = await create(path);
    for (const value of ['region', null, 1, {}]) {
      const answer = await patch(`${path}/${rule.id}`, { mode: 'disabled', [field]: value });
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([
        {
          code: 10001,
          message: expect.stringContaining('cannot be changed'),
          source: { pointer: `/${field}` },
        },
      ]);
    }
    expect((await call(server, { path: `${path}/${rule.id}` })).json.result).toEqual(rule);
  });

  it('returns all errors of a change and changes nothing', async () => {
    const path = freshPath();
    const rule = await create(path);
    const answer = await patch(`${path}/${rule.id}`, {
      mode: 'on',
      name: 'b',
      rate_sensitivity: 'high',
      x: 1,
    });
    expect(answer.json.errors.map((error: { source: { pointer: string } }) => error.source.pointer)).toEqual([
      '/mode',
      '/name',
      '/x',
    ]);
    expect((await call(server, { path: `${path}/${rule.id}` })).json.result).toEqual(rule);
  });

  it('accepts an id in upper case', async () => {
    const path = freshPath();
    const rule = await create(path);
    expect((await patch(`${path}/${rule.id.toUpperCase()}`, { mode: 'disabled' })).status).toBe(200);
  });

  it('loses none of 40 concurrent changes of different fields', async () => {
    const path = freshPath();
    const { id } = await create(path);
    const fields = [
      { mode: 'disabled' },
      { profile_sensitivity: 'high' },
      { rate_sensitivity: 'high' },
      { burst_sensitivity: 'high' },
    ];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => patch(`${path}/${id}`, fields[index % 4])),
    );
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect((await call(server, { path: `${path}/${id}` })).json.result).toMatchObject(
      Object.assign({}, ...fields),
    );
  });
});

describe('DELETE …/rules', () => {
  it('deletes one rule, returns no result, and keeps the others', async () => {
    const path = freshPath();
    const [first, second] = [await create(path), await create(path)];
    const answer = await call(server, { method: 'DELETE', path: `${path}/${first.id}` });
    expect([answer.status, answer.json]).toEqual([200, done]);
    expect((await call(server, { path })).json.result).toEqual([second]);
    expect((await call(server, { method: 'DELETE', path: `${path}/${first.id}` })).status).toBe(404);
  });

  it('deletes all rules of one account, returns no result, and keeps those of other accounts', async () => {
    const [path, other] = [freshPath(), freshPath()];
    for (const each of [path, path, other]) await create(each);
    const answer = await call(server, { method: 'DELETE', path });
    expect([answer.status, answer.json]).toEqual([200, done]);
    expect((await call(server, { path })).json.result).toEqual([]);
    expect((await call(server, { path: other })).json.result).toHaveLength(1);
    expect((await call(server, { method: 'DELETE', path })).status).toBe(200);
  });

  it('ignores a request body', async () => {
    const path = freshPath();
    const { id } = await create(path);
    const headers = { 'content-type': 'application/json' };
    const answer = await call(server, { method: 'DELETE', path: `${path}/${id}`, body: '{', headers });
    expect(answer.status).toBe(200);
  });
});

it('GET /user/tokens/verify confirms a valid token', async () => {
  expect((await call(server, { path: '/user/tokens/verify' })).json).toEqual({
    result: { id: expect.any(String), status: 'active' },
    success: true,
    errors: [],
    messages: [{ code: 10000, message: 'This API Token is valid and active', type: null }],
  });
});
