import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { floodgate } from '../rules/support/command.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../support/certificate.ts';
import { type Floodgate, startFloodgate, startFloodgateProcess } from '../support/startFloodgate.ts';

/** An address without a node: these tests need none. */
const UPSTREAM = 'http://127.0.0.1:9';
const CONSOLE = { 'x-floodgate-console': '1', 'sec-fetch-site': 'same-origin' };
const ARGS = ['--console-enabled', '--http-allowed-hosts', '*'];

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as a page of the console does, unless `headers` replaces its headers. */
const send = (url: string, { method = 'GET', body, headers = CONSOLE }: Sent = {}): Promise<Response> =>
  fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function newToken({ url, token }: Floodgate, permissions: readonly string[]) {
  const answer = await fetch(`${url}/client/v4/user/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ label: 'test', all_accounts: true, permissions }),
  });
  return ((await answer.json()) as { result: { id: string; value: string } }).result;
}

const revoke = ({ url, token }: Floodgate, id: string): Promise<Response> =>
  fetch(`${url}/client/v4/user/tokens/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  });

const cookieOf = (answer: Response): string => (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

/** Signs in, and returns the headers of the console with the cookie. */
async function signIn({ url }: Floodgate, body: object): Promise<Readonly<Record<string, string>>> {
  const answer = await send(`${url}/console/sign-in`, { method: 'POST', body });
  expect(answer.status, await answer.text()).toBe(200);
  return { ...CONSOLE, cookie: cookieOf(answer) };
}

const CALL = { jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] };
const rpc = ({ url }: Floodgate, headers: Readonly<Record<string, string>>): Promise<Response> =>
  send(`${url}/console/v1/mainnet`, { method: 'POST', body: CALL, headers });

const originOf = ({ url }: Floodgate): string => new URL(url).origin;
const socketOf = (server: Floodgate, { cookie = '' }: Readonly<Record<string, string>>, origin: string) =>
  openWebSocket(`${server.url}/console/v1/mainnet`, { cookie, origin });

describe('signing in to the console', () => {
  let server: Floodgate;
  beforeAll(async () => {
    server = await startFloodgate({ upstream: UPSTREAM, args: ARGS, whenListening: true });
  });
  afterAll(() => server?.stop());

  it('sets a cookie that works on the three APIs of the console, and never on the gateway', async () => {
    const { value } = await newToken(server, ['dns_protection:read', 'nodes:write']);
    const answer = await send(`${server.url}/console/sign-in`, { method: 'POST', body: { token: value } });
    const { port } = new URL(server.url);
    expect(answer.headers.get('set-cookie')).toMatch(
      new RegExp(`^floodgate-${port}=[\\w-]{43}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict$`),
    );
    const headers = { ...CONSOLE, cookie: cookieOf(answer) };
    const paths = ['/client/v4/user/tokens/current', '/console/session', '/console/sessions'];
    for (const path of paths) {
      const got = await send(server.url + path, { headers });
      expect([path, got.status, got.headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
    }
    const drain = `${server.url}/operations/nodes/mainnet/none/drain`;
    expect((await send(drain, { method: 'POST', headers })).status).toBe(404);
    expect((await send(drain, { method: 'POST' })).status).toBe(401);
    const relayed = await rpc(server, headers);
    expect([relayed.status, relayed.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect((await rpc(server, CONSOLE)).status).toBe(401);
    expect((await rpc(server, { ...headers, authorization: 'Bearer x' })).status).toBe(401);
  });

  it('is rejected for a form or script of another page, and for a wrong token or code', async () => {
    const { value } = await newToken(server, ['dns_protection:read']);
    const post = (headers: Readonly<Record<string, string>>, body: object = { token: value }) =>
      send(`${server.url}/console/sign-in`, { method: 'POST', body, headers });
    expect((await post({})).status).toBe(403);
    expect((await post({ ...CONSOLE, 'sec-fetch-site': 'same-site' })).status).toBe(403);
    const form = await fetch(`${server.url}/console/sign-in`, {
      method: 'POST',
      headers: { ...CONSOLE, 'content-type': 'text/plain' },
      body: JSON.stringify({ token: value }),
    });
    expect(form.status).toBe(415);
    for (const body of [{ token: 'fg_wrong' }, { code: 'x'.repeat(43) }, { token: '' }, { token: 1 }, {}]) {
      const wrong = await post(CONSOLE, body);
      expect([body, wrong.status >= 401, wrong.headers.has('set-cookie')]).toEqual([body, true, false]);
    }
  });

  it('a form of another page cannot use the cookie, nor can a page of another port open a WebSocket', async () => {
    const headers = await signIn(server, { token: server.token });
    const { cookie = '' } = headers;
    const form = { cookie, 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' };
    const key = { method: 'PUT', body: { key: 'fgk_x' }, headers: form };
    expect((await send(`${server.url}/console/session/key`, key)).status).toBe(401);
    expect((await rpc(server, form)).status).toBe(401);
    await expect(socketOf(server, headers, 'http://127.0.0.1:1')).rejects.toThrow('401');
    await expect(socketOf(server, { cookie: '' }, originOf(server))).rejects.toThrow('401');
    const socket = await socketOf(server, headers, originOf(server));
    onTestFinished(() => socket.close());
    expect((await socket.call('eth_subscribe', 'newHeads')).result).toMatch(/^0x/);
  });

  it('over plain HTTP to another machine, requests without Sec-Fetch-Site and Origin need a Referer', async () => {
    const signedIn = await signIn(server, { token: server.token });
    const cookie = (signedIn['cookie'] ?? '').replace(/^floodgate-\d+/, 'floodgate-80');
    const lan = { host: '192.0.2.7', 'x-floodgate-console': '1', cookie };
    const statusOf = (path: string, headers: Readonly<Record<string, string>>) =>
      new Promise((resolve, reject) => {
        httpRequest(server.url + path, { headers }, (answer) => {
          resolve(answer.statusCode);
          answer.destroy();
        })
          .on('error', reject)
          .end();
      });
    const configs = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection';
    for (const path of ['/client/v4/user/tokens/current', `${configs}/live`, '/console/sessions']) {
      expect([path, await statusOf(path, lan)]).toEqual([path, 401]);
      expect([path, await statusOf(path, { ...lan, referer: 'http://192.0.2.8/console/' })]).toEqual([
        path,
        401,
      ]);
      expect([path, await statusOf(path, { ...lan, referer: 'http://192.0.2.7/console/' })]).toEqual([
        path,
        200,
      ]);
    }
  });

  it('signing out ends the session, its event stream and its WebSocket', async () => {
    const headers = await signIn(server, { token: server.token });
    const path = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/live';
    const stream = await send(server.url + path, { headers });
    expect(stream.status).toBe(200);
    const socket = await socketOf(server, headers, originOf(server));
    const out = await send(`${server.url}/console/session`, { method: 'DELETE', headers });
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    await Promise.all([stream.text(), socket.closed]);
    expect((await rpc(server, headers)).status).toBe(401);
  });

  it('a revoked token ends its sessions, with their event streams and WebSockets', async () => {
    const { id, value } = await newToken(server, ['dns_protection:read']);
    const headers = await signIn(server, { token: value });
    const path = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/live';
    const stream = await send(server.url + path, { headers });
    const socket = await socketOf(server, headers, originOf(server));
    await revoke(server, id);
    await Promise.all([stream.text(), socket.closed]);
    expect((await rpc(server, headers)).status).toBe(401);
    const session = await send(`${server.url}/console/session`, { headers });
    expect(await session.json()).toEqual({ signed_in: false });
    const own = await signIn(server, { token: server.token });
    const listed = await send(`${server.url}/console/sessions`, { headers: own });
    const { result } = (await listed.json()) as { result: { token_id: string }[] };
    expect(result.map(({ token_id }) => token_id)).not.toContain(id);
  });

  it('lists the sessions that the token may see, and ends those that it may revoke', async () => {
    const [one, other] = [await newToken(server, ['tokens:read']), await newToken(server, ['nodes:read'])];
    const [seeing, blind] = [
      await signIn(server, { token: one.value }),
      await signIn(server, { token: other.value }),
    ];
    const list = async (headers: Readonly<Record<string, string>>) => {
      const answer = await send(`${server.url}/console/sessions`, { headers });
      return ((await answer.json()) as { result: { id: string; token_id: string; is_current: boolean }[] })
        .result;
    };
    const tokenIds = (await list(seeing)).map(({ token_id }) => token_id);
    expect(tokenIds).toEqual(expect.arrayContaining([one.id, other.id]));
    const [own, ...more] = await list(blind);
    expect([own, more]).toEqual([expect.objectContaining({ token_id: other.id, is_current: true }), []]);
    const end = (id: string, headers: Readonly<Record<string, string>>) =>
      send(`${server.url}/console/sessions/${id}`, { method: 'DELETE', headers });
    expect((await end(own?.id ?? '', seeing)).status).toBe(404);
    expect((await end(own?.id ?? '', await signIn(server, { token: server.token }))).status).toBe(200);
    expect((await rpc(server, blind)).status).toBe(401);
  });

  it('the session keeps the API key of the gateway, and sends it with the calls of the console', async () => {
    const headers = await signIn(server, { token: server.token });
    const created = await send(`${server.url}/client/v4/gateway/keys`, {
      method: 'POST',
      headers,
      body: { name: 'console' },
    });
    const { result } = (await created.json()) as { result: { value: string } };
    expect((await rpc(server, headers)).status).toBe(401);
    const put = (key: unknown) =>
      send(`${server.url}/console/session/key`, { method: 'PUT', body: { key }, headers });
    expect((await put('')).status).toBe(400);
    expect((await put(result.value)).status).toBe(200);
    expect((await rpc(server, headers)).status).toBe(200);
    const socket = await socketOf(server, headers, originOf(server));
    onTestFinished(() => socket.close());
    expect((await socket.call('rpc.discover')).result).toHaveProperty('openrpc');
    const session = await (await send(`${server.url}/console/session`, { headers })).json();
    expect(session).toMatchObject({ signed_in: true, has_key: true });
    expect(JSON.stringify(session)).not.toContain(result.value);
    await put(null);
    expect((await rpc(server, headers)).status).toBe(401);
  });

  it('`floodgate console` prints a link that signs in once', async () => {
    const run = await floodgate(['console', '--url', server.url], { env: { FLOODGATE_TOKEN: server.token } });
    const code = new RegExp(`^${server.url}/console/#code=([\\w-]{43})\n$`).exec(run.stdout)?.[1];
    expect([run.status, code]).toEqual([0, expect.any(String)]);
    const headers = await signIn(server, { code });
    const again = await send(`${server.url}/console/sign-in`, { method: 'POST', body: { code } });
    expect(again.status).toBe(403);
    // A session cannot create a link, which would prolong it.
    expect((await send(`${server.url}/console/links`, { method: 'POST', headers })).status).toBe(401);
  });

  it('above 20 attempts of a client to sign in, further ones are rejected for a minute', async () => {
    const statuses = [];
    for (let i = 0; i < 21; i++) {
      const body = { code: 'x'.repeat(43) };
      statuses.push((await send(`${server.url}/console/sign-in`, { method: 'POST', body })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });
});

it.skipIf(!hasOpenssl)(`with TLS, the cookie is Secure and bound to the host${withOpenssl}`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-console-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  makeCertificate(files);
  const args = [...ARGS, '--tls-cert', files.cert, '--tls-key', files.key];
  const server = await startFloodgate({ args, whenListening: true });
  onTestFinished(() => void server.stop());
  const cookie = await new Promise<string>((resolve, reject) => {
    const headers = { ...CONSOLE, 'content-type': 'application/json' };
    const options = { method: 'POST', headers, ca: readFileSync(files.cert) };
    httpsRequest(`${server.url}/console/sign-in`, options, (answer) => {
      answer.resume();
      resolve(String(answer.headers['set-cookie']));
    })
      .on('error', reject)
      .end(JSON.stringify({ token: server.token }));
  });
  expect(cookie).toMatch(/^__Host-floodgate-\d+=[\w-]{43}; .*; Secure$/);
});

it('without the console, there is no sign-in, and cookies are ignored', async () => {
  const server = await startFloodgate({ whenListening: true });
  onTestFinished(() => void server.stop());
  expect((await send(`${server.url}/console/sign-in`, { method: 'POST', body: {} })).status).toBe(404);
  const run = await floodgate(['console', '--url', server.url], { env: { FLOODGATE_TOKEN: server.token } });
  expect([run.status, run.stderr]).toEqual([1, expect.stringContaining('set console.enabled')]);
});

it('with two workers, a session works over every connection, and ends in all of them', async () => {
  const args = [...ARGS, '--workers', '2'];
  const server = await startFloodgateProcess({ upstream: UPSTREAM, args, whenListening: true });
  onTestFinished(() => void server.stop());
  const headers = await signIn(server, { token: server.token });
  const close = { ...headers, connection: 'close' };
  const statusOf = async (): Promise<number> => {
    const answer = await rpc(server, close);
    await answer.text(); // fetch throws outside of any promise if a connection closes before its response is read
    return answer.status;
  };
  const statuses = async () => new Set(await Promise.all(Array.from({ length: 6 }, statusOf)));
  expect(await statuses()).toEqual(new Set([200]));
  const sockets = await Promise.all(
    Array.from({ length: 4 }, () => socketOf(server, headers, originOf(server))),
  );
  await send(`${server.url}/console/session`, { method: 'DELETE', headers });
  await Promise.all(sockets.map(({ closed }) => closed));
  expect(await statuses()).toEqual(new Set([401]));
});
