import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Call, call } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer } from './support/server.ts';

let server: RulesServer;
let accounts = 0;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Returns the path of the rules of a new account. */
function freshPath(): string {
  accounts++;
  return rulesPath(`account-${accounts}`);
}

const patch = (path: string, body: unknown, more: Partial<Call> = {}) =>
  call(server, { method: 'PATCH', path, body, ...more });

describe('a create with an Idempotency-Key', () => {
  const send = (path: string, key: string, fields: object = {}) =>
    call(server, {
      method: 'POST',
      path,
      body: { ...newRule, ...fields },
      headers: { 'idempotency-key': key },
    });

  it('returns the first result again for the same key, even if the rule was changed in between', async () => {
    const path = freshPath();
    const first = await send(path, 'k1');
    await patch(`${path}/${first.json.result.id}`, { mode: 'disabled' });
    const again = await send(path, 'k1');
    expect(again.json).toEqual(first.json);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect((await call(server, { path })).json.result).toHaveLength(1);
  });

  it('is rejected with 422 for the same key with another body', async () => {
    const path = freshPath();
    await send(path, 'k1');
    const reused = await send(path, 'k1', { mode: 'disabled' });
    expect([reused.status, reused.json.errors[0].code]).toEqual([422, 10422]);
  });

  it('creates one rule if 20 requests with the same key arrive concurrently', async () => {
    const path = freshPath();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(path, 'same')));
    expect(new Set(answers.map((answer) => answer.json.result.id)).size).toBe(1);
    expect((await call(server, { path })).json.result).toHaveLength(1);
  });

  it('creates another rule for another account or another key', async () => {
    const path = freshPath();
    const ids = [await send(path, 'a'), await send(path, 'b'), await send(freshPath(), 'a')].map(
      (answer) => answer.json.result.id,
    );
    expect(new Set(ids).size).toBe(3);
  });

  it('does not store a rejection', async () => {
    const path = freshPath();
    expect((await send(path, 'k', { mode: 'wrong' })).status).toBe(400);
    expect((await send(path, 'k')).status).toBe(200);
  });
});

describe('a rule’s ETag', () => {
  it('is in every response with the rule, and changes with the rule', async () => {
    const path = freshPath();
    const created = await call(server, { method: 'POST', path, body: newRule });
    const single = `${path}/${created.json.result.id}`;
    const tag = created.headers['etag'];
    expect(tag).toMatch(/^"[\w-]+"$/);
    expect((await call(server, { path: single })).headers['etag']).toBe(tag);
    expect((await patch(single, {})).headers['etag']).toBe(tag);
    expect((await patch(single, { mode: 'disabled' })).headers['etag']).not.toBe(tag);
  });

  it.each(['PATCH', 'DELETE'])('makes %s fail with 412 if If-Match contains a stale one', async (method) => {
    const path = freshPath();
    const created = await call(server, { method: 'POST', path, body: newRule });
    const single = `${path}/${created.json.result.id}`;
    const stale = created.headers['etag'] as string;
    const changed = await patch(single, { mode: 'disabled' });
    const send = (tag: string) =>
      call(server, { method, path: single, body: { mode: 'enabled' }, headers: { 'if-match': tag } });
    const current = changed.headers['etag'] as string;
    const wrong = [
      stale,
      `W/${current}`,
      '"other"',
      'unquoted',
      '',
      `${current}garbage`,
      `garbage${current}`,
    ];
    for (const tag of [...wrong, `"other" ${current}`, `${current}, garbage`]) {
      const refused = await send(tag);
      expect([refused.status, refused.json.errors[0].code]).toEqual([412, 10412]);
    }
    expect((await call(server, { path: single })).json.result).toEqual(changed.json.result);
    expect((await send(`"other", ${changed.headers['etag']}`)).status).toBe(200);
  });

  it('matches If-Match: *', async () => {
    const path = freshPath();
    const { id } = (await call(server, { method: 'POST', path, body: newRule })).json.result;
    expect(
      (await patch(`${path}/${id}`, { mode: 'disabled' }, { headers: { 'if-match': '*' } })).status,
    ).toBe(200);
  });

  it('accepts one of 20 concurrent changes with the same If-Match', async () => {
    const path = freshPath();
    const created = await call(server, { method: 'POST', path, body: newRule });
    const headers = { 'if-match': created.headers['etag'] as string };
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const body = { mode: 'disabled' };
        return (await patch(`${path}/${created.json.result.id}`, body, { headers })).status;
      }),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 412)).toHaveLength(19);
  });
});

describe('If-None-Match', () => {
  it('returns 304 for a rule and for a list until they change', async () => {
    const path = freshPath();
    const { id } = (await call(server, { method: 'POST', path, body: newRule })).json.result;
    const paths = [path, `${path}?per_page=1`, `${path}?order=name&direction=desc`, `${path}/${id}`];
    const tags = await Promise.all(
      paths.map(async (one) => (await call(server, { path: one })).headers['etag']),
    );
    const read = (index: number, tag: string) =>
      call(server, { path: String(paths[index]), headers: { 'if-none-match': tag } });
    for (const [index, tag] of tags.entries()) {
      expect(tag).toMatch(/^"[\w-]+"$/);
      for (const same of [String(tag), `W/${tag}`, `"other", ${tag}`, '*']) {
        const answer = await read(index, same);
        expect([answer.status, answer.text, answer.headers['etag']]).toEqual([304, '', tag]);
        expect(answer.headers['content-type']).toBeUndefined();
      }
      for (const other of ['"other"', `${tag}garbage`, 'garbage'])
        expect((await read(index, other)).status).toBe(200);
    }
    await patch(`${path}/${id}`, { mode: 'disabled' });
    for (const [index, tag] of tags.entries()) expect((await read(index, String(tag))).status).toBe(200);
  });
});
