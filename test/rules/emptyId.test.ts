import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, send } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

const done = { success: true, errors: [], messages: [] };
const FAMILIES = ['network', 'magic'] as const;

let server: RulesServer;
let account: string;
let ids: string[];
beforeAll(async () => {
  server = await startServer();
  account = 'empty-id';
  ids = [];
  for (const name of ['a', 'b'])
    ids.push(
      (await call(server, { method: 'POST', path: rulesPath(account), body: { ...newRule, name } })).json
        .result.id,
    );
});
afterAll(() => server.stop());

const idsOf = async (of: string): Promise<string[]> =>
  (await call(server, { path: rulesPath(of) })).json.result.map(({ id }: { id: string }) => id);

/** What may stand behind the collection's path where an id was left empty, and how the answer is told. */
const EMPTY_IDS: readonly (readonly [suffix: string, code: number])[] = [
  ['/', 7003],
  ['/?x=1', 7003],
  ['/?', 7003],
  ['/#x', 7003],
  ['//', 7003],
  ['//?x=1', 7003],
  ['///', 7000],
  ['/%20', 7003],
  ['/%20/', 7003],
  ['/%00', 7003],
  ['/%2F', 7003],
  ['/%2f', 7003],
  ['/%2F/', 7003],
  ['/%', 7000],
  ['/.', 7003],
  ['/./', 7003],
  ['/..', 7003],
  ['/%2e', 7003],
  ['/..%2Frules', 7003],
  ['/../rules', 7000],
  ['/*', 7003],
  ['/;', 7003],
  ['/undefined', 7003],
  ['/null', 7003],
  ['%2F', 7000],
  ['%20', 7000],
];

describe.each(FAMILIES)('below /%s/', (family) => {
  it.each(EMPTY_IDS)('DELETE …/rules%s is 404 and deletes nothing', async (suffix, code) => {
    const path = rulesPath(account, family) + suffix;
    const answer = await call(server, { method: 'DELETE', path });
    expect([answer.status, answer.json.errors[0].code]).toEqual([404, code]);
    expect(await idsOf(account)).toEqual(ids);
  });

  it.each(['/', '/?x=1', '/?'])(
    'PATCH …/rules%s is 405: the collection has no such method',
    async (suffix) => {
      const path = rulesPath(account, family) + suffix;
      const answer = await send(server, { method: 'PATCH', path, body: { mode: 'disabled' } });
      expect([answer.status, answer.json.errors[0].code, answer.headers['allow']]).toEqual([
        405,
        10405,
        'GET, HEAD, POST',
      ]);
    },
  );

  it.each(EMPTY_IDS.filter(([suffix]) => !/^\/(\?|$)/.test(suffix)))(
    'PATCH …/rules%s is 404 likewise',
    async (suffix, code) => {
      const path = rulesPath(account, family) + suffix;
      // The document has no PATCH of a collection, which is what the path is without its slash.
      const answer = await send(server, { method: 'PATCH', path, body: { mode: 'disabled' } });
      expect([answer.status, answer.json.errors[0].code]).toEqual([404, code]);
    },
  );

  it.each(['', '/'])('no account is emptied by an account id that is empty (…/rules%s)', async (slash) => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await call(server, { method, path: rulesPath('', family) + slash });
      expect([answer.status, answer.json.errors[0].code]).toEqual([404, 7003]);
    }
    const answer = await call(server, {
      method: 'DELETE',
      path: rulesPath('', family).replace('//', '/') + slash,
    });
    expect([answer.status, answer.json.errors[0].code]).toEqual([404, 7000]);
    expect(await idsOf(account)).toEqual(ids);
  });

  it('the list, a create and one rule take a trailing slash as before', async () => {
    const collection = rulesPath(`slash-${family}`, family);
    const created = await call(server, { method: 'POST', path: `${collection}/`, body: newRule });
    expect(created.status).toBe(200);
    const { id } = created.json.result;
    expect((await call(server, { path: `${collection}/` })).json.result).toHaveLength(1);
    expect((await call(server, { path: `${collection}/?page=1` })).json.result).toHaveLength(1);
    expect((await call(server, { method: 'DELETE', path: `${collection}/${id}/` })).json).toEqual(done);
    expect(await idsOf(`slash-${family}`)).toEqual([]);
  });

  it('DELETE …/rules without the slash deletes all, its query not looked at', async () => {
    const name = `all-${family}`;
    for (const query of ['', '?', '?x=/']) {
      const path = rulesPath(name, family);
      await call(server, { method: 'POST', path, body: newRule });
      expect((await call(server, { method: 'DELETE', path: path + query })).json).toEqual(done);
      expect(await idsOf(name)).toEqual([]);
    }
  });

  it.each(['"stale"', 'W/"stale"', '', ' ', '"*"', '**', '*, "a"', '*, *'])(
    'DELETE …/rules with If-Match %j is 412 and deletes nothing',
    async (tag) => {
      const path = rulesPath(account, family);
      const answer = await call(server, { method: 'DELETE', path, headers: { 'if-match': tag } });
      expect([answer.status, answer.json.errors[0].code]).toEqual([412, 10412]);
      expect(answer.json.errors[0].message).toContain('*');
      expect(await idsOf(account)).toEqual(ids);
    },
  );

  it('DELETE …/rules with the tag of a rule of the account is 412: it names no collection', async () => {
    const path = rulesPath(account, family);
    const { etag } = (await call(server, { path: `${path}/${ids[0]}` })).headers;
    const headers = { 'if-match': String(etag) };
    expect((await call(server, { method: 'DELETE', path, headers })).status).toBe(412);
    expect(await idsOf(account)).toEqual(ids);
  });

  it('DELETE …/rules with If-Match * deletes all', async () => {
    const name = `star-${family}`;
    const path = rulesPath(name, family);
    await call(server, { method: 'POST', path, body: newRule });
    expect((await call(server, { method: 'DELETE', path, headers: { 'if-match': ' * ' } })).json).toEqual(
      done,
    );
    expect(await idsOf(name)).toEqual([]);
  });
});

it('who may not write learns nothing by an empty id', async () => {
  const path = `${rulesPath(account)}/`;
  expect((await call(server, { method: 'DELETE', path, token: null })).status).toBe(401);
  expect((await call(server, { method: 'DELETE', path, token: 'fg_unknown' })).status).toBe(401);
});

it('the methods that are allowed with the slash are told without the deletion', async () => {
  const { status, headers } = await call(server, { method: 'PUT', path: `${rulesPath(account)}/` });
  expect([status, headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
});

it('a request line with the whole URL, as proxies send it, is no way around it', async () => {
  const { origin, pathname } = new URL(server.baseUrl);
  const sent = httpRequest(origin, { method: 'DELETE', headers: { authorization: `Bearer ${TOKEN}` } });
  sent.path = `${origin}${pathname}${rulesPath(account)}/`;
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage]; // the argument of 'response'
  response.resume();
  expect(response.statusCode).toBe(404);
  expect(await idsOf(account)).toEqual(ids);
});

describe('a deletion of any id that no rule has deletes nothing', () => {
  /** Pieces that paths are bent with. Without a whole id of a stored rule, as that would rightly be deleted. */
  const pieces = () =>
    fc.constantFrom(
      ...['/', '//', '.', '..', '%2F', '%2f', '%5C', '%2e', '%20', '%00', '%', '%zz', '?', '#', ';', '*'],
      ...['rules', 'analytics', '&', '=', '~', ':', '@', '\\', '"', 'undefined'],
      ...[randomUUID(), String(ids[0]).slice(0, -1), String(ids[0]).replaceAll('-', ''), `{${'0'.repeat(8)}`],
    );
  const refused = async (suffix: string) => {
    for (const family of FAMILIES) {
      const path = `${rulesPath(account, family)}/${suffix}`;
      expect((await call(server, { method: 'DELETE', path })).status, path).toBe(404);
    }
    expect(await idsOf(account)).toEqual(ids);
  };

  it('where it is encoded, as clients do', () =>
    fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 60 }), (id) => {
        fc.pre(!ids.includes(id.toLowerCase()));
        return refused(encodeURIComponent(id));
      }),
      { examples: [[''], [' '], ['*'], ['.'], ['../rules'], ['\0']] },
    ));

  it('where it stands in the path as it is', () =>
    fc.assert(fc.asyncProperty(fc.array(pieces(), { maxLength: 6 }), (parts) => refused(parts.join('')))));
});
