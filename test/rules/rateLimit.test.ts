import Cloudflare from 'cloudflare';
import { expect, it } from 'vitest';
import { until } from '../support/until.ts';
import { call } from './support/call.ts';
import { newRule, rulesPath } from './support/samples.ts';
import { startServer, TOKEN } from './support/server.ts';

it('a token that sends too many requests is told to wait, and goes on in the next window', async () => {
  const limited = (windowSeconds: number) =>
    startServer({
      args: ['--rules-rate-limit-requests', '3', '--rules-rate-limit-window-seconds', String(windowSeconds)],
    });
  // In the long window nothing runs out while it is looked at, however slow the machine is; the short one is waited out.
  const [server, short] = await Promise.all([limited(600), limited(1)]);
  try {
    const list = () => call(server, { path: rulesPath('a') });
    const allowed = [await list(), await list(), await list()];
    expect(allowed.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(allowed.map(({ headers }) => headers['ratelimit'])).toEqual([
      expect.stringMatching(/^"default";r=2;t=[1-6]?\d{1,2}$/),
      expect.stringMatching(/^"default";r=1;t=[1-6]?\d{1,2}$/),
      expect.stringMatching(/^"default";r=0;t=[1-6]?\d{1,2}$/),
    ]);
    const refused = await call(server, { method: 'POST', path: rulesPath('a'), body: newRule });
    expect([refused.status, refused.json.errors[0].code]).toEqual([429, 10429]);
    expect(refused.headers['ratelimit-policy']).toBe('"default";q=3;w=600');
    expect(refused.headers['retry-after']).toMatch(/^[1-6]?\d{1,2}$/);

    const client = new Cloudflare({ apiToken: TOKEN, baseURL: server.baseUrl, maxRetries: 0 });
    await expect(client.get(rulesPath('a', 'magic'))).rejects.toBeInstanceOf(Cloudflare.RateLimitError);
    // The official client waits as long as it is told, then gets through.
    await until(
      'the short window is used up',
      async () => (await call(short, { path: rulesPath('a') })).status === 429,
    );
    const patient = new Cloudflare({ apiToken: TOKEN, baseURL: short.baseUrl, maxRetries: 2 });
    expect(await patient.get(rulesPath('a', 'magic'))).toMatchObject({ success: true, result: [] });
  } finally {
    await Promise.all([server.stop(), short.stop()]);
  }
});

it('without a configured limit there is none, and no header that speaks of one', async () => {
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
