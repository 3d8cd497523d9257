import Cloudflare from 'cloudflare';
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { call } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { isWithWorkers, startServer, TOKEN } from './support/server.ts';

const LIMITED = ['--rules-rate-limit-requests', '3'];

it('the rules API rejects requests above the limit of a token with 429 and Retry-After', async () => {
  const server = await startServer({ args: LIMITED });
  try {
    const list = () => call(server, { path: rulesPath('a') });
    const allowed = [await list(), await list(), await list()];
    expect(allowed.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(allowed.map(({ headers }) => headers['ratelimit'])).toEqual([
      expect.stringMatching(/^"default";r=2;t=[1-3]?\d{1,2}$/),
      expect.stringMatching(/^"default";r=1;t=[1-3]?\d{1,2}$/),
      expect.stringMatching(/^"default";r=0;t=[1-3]?\d{1,2}$/),
    ]);
    const refused = await call(server, { method: 'POST', path: rulesPath('a'), body: newRule });
    expect([refused.status, refused.json.errors[0].code]).toEqual([429, 10429]);
    expect(refused.headers['ratelimit-policy']).toBe('"default";q=3;w=300');
    expect(refused.headers['retry-after']).toMatch(/^[1-3]?\d{1,2}$/);

    const client = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl, maxRetries: 0 });
    await expect(client.get(rulesPath('a', 'magic'))).rejects.toBeInstanceOf(Cloudflare.RateLimitError);
  } finally {
    await server.stop();
  }
});

// Workers are separate processes, in which the window of 300 s cannot be shortened.
it.skipIf(isWithWorkers())(
  "Cloudflare's official client waits for the time in Retry-After, then succeeds",
  async () => {
    const server = await startServer({ args: LIMITED, tuning: { rateLimitWindowSeconds: 1 } });
    try {
      await until(
        'the limit of the window to be reached',
        async () => (await call(server, { path: rulesPath('a') })).status === 429,
      );
      const client = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl, maxRetries: 2 });
      expect(await client.get(rulesPath('a', 'magic'))).toMatchObject({ success: true, result: [] });
    } finally {
      await server.stop();
    }
  },
);

it('the rules API has no limit and sends no Ratelimit header by default', async () => {
  const server = await startServer();
  try {
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => call(server, { path: rulesPath('a') })),
    );
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers).not.toHaveProperty('ratelimit');
    }
  } finally {
    await server.stop();
  }
});

it('the tokens that a token creates share its limit, and other tokens do not', async () => {
  const server = await startServer({ args: ['--rules-rate-limit-requests', '10'] });
  try {
    const create = async (token = TOKEN) => {
      const body = { accounts: ['a'], permissions: ['dns_protection:read', 'tokens:write'] };
      const { status, json } = await call(server, { method: 'POST', path: '/user/tokens', body, token });
      return status === 200 ? (json.result.value as string) : undefined;
    };
    const [root, other] = [await create(), await create()];
    const tokens = [root];
    for (let i = 0; i < 10; i++) tokens.push(await create(tokens.at(-1) ?? root));
    const read = async (token = TOKEN) => (await call(server, { path: rulesPath('a'), token })).status;
    expect(await Promise.all(tokens.filter((token) => token !== undefined).map(read))).toEqual(
      Array.from({ length: 11 }, () => 429),
    );
    expect([await read(other), await read()]).toEqual([200, 200]);
  } finally {
    await server.stop();
  }
});
