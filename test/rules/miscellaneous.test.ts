import { connect } from 'node:net';
import Cloudflare from 'cloudflare';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { type RulesServer, startServer, TOKEN } from './support/server.ts';

let server: RulesServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/** Sends bytes that may not be HTTP, and returns the response. */
async function answerTo(bytes: string): Promise<string> {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return answer;
}

const path = `/client/v4${rulesPath('a')}`;

it.each([
  ['a header without a colon', `GET ${path} HTTP/1.1\r\nhost: x\r\nno header\r\n\r\n`, 400],
  ['headers that are too large', `GET ${path} HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}`, 431],
  ['two lengths', `POST ${path} HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n`, 400],
])('the server answers %s with an error envelope', async (_, bytes, status) => {
  const [head = '', body = ''] = (await answerTo(bytes)).split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toContain('Content-Type: application/json');
  expect(JSON.parse(body)).toEqual({
    result: null,
    success: false,
    errors: [{ code: 10_000 + status, message: expect.any(String) }],
    messages: [],
  });
});

it("Cloudflare's official client does not retry a create in a full account", async () => {
  const rule = { ...newRule, scope: 'region', name: 'x' };
  await Promise.all(
    Array.from({ length: 1000 }, () => call(server, { method: 'POST', path: rulesPath('full'), body: rule })),
  );
  let requests = 0;
  const client = new Cloudflare({
    apiToken: TOKEN,
    baseURL: server.baseUrl,
    fetch: (url, init) => {
      requests++;
      return fetch(url, init);
    },
  });
  await expect(client.post(rulesPath('full', 'magic'), { body: rule })).rejects.toMatchObject({
    status: 409,
  });
  expect(requests).toBe(1);
});

it('order=prefix, the default of Cloudflare’s API, sorts by creation', async () => {
  for (const name of ['b', 'a'])
    await call(server, { method: 'POST', path: rulesPath('order'), body: { ...newRule, name } });
  const { status, json } = await call(server, { path: `${rulesPath('order')}?order=prefix&direction=DESC` });
  expect([status, json.result.map(({ name }: { name: string }) => name)]).toEqual([200, ['a', 'b']]);
});
