import { existsSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Floodgate, startFloodgate, TOKEN } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** A URL without a listener: these tests need no node. */
const NOBODY = 'http://127.0.0.1:9';
const RULES = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules';
const authorization = `Bearer ${TOKEN}`;
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'no_such', params: [] });

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
}

/** Sends a request with any Host header, over TCP or to a Unix socket. */
function send(
  where: string | { readonly socketPath: string },
  options: RequestOptions,
  body = '',
): Promise<Answer> {
  const at = typeof where === 'string' ? { host: '127.0.0.1', port: new URL(where).port } : where;
  return new Promise((resolve, reject) => {
    const sent = request({ ...at, agent: false, ...options }, (answer: IncomingMessage) => {
      text(answer).then((body) => resolve({ status: answer.statusCode, body }), reject);
    });
    sent.on('error', reject).end(body);
  });
}
const post = { method: 'POST', path: '/v1/mainnet', headers: { 'content-type': 'application/json' } };
const opsUrlOf = (floodgate: Floodgate): string => /"opsUrl":"([^"]+)"/.exec(floodgate.output())?.[1] ?? '';

/** Paths for operators with the expected status. */
const OPERATORS_PATHS: ReadonlyArray<readonly [path: string, status: number]> = [
  ['/metrics', 200],
  ['/healthz', 200],
  ['/readyz', 503],
  [RULES, 200],
  ['/client/v4/openapi.json', 200],
  ['/client/v4/user/tokens/verify', 200],
  ['/client/v4/no/such', 404],
  ['/operations/nodes', 200],
];

it('with the console, the operators’ listener serves the gateway too, and the public one serves no operator paths', async () => {
  const config = { upstream: [NOBODY], ops: { port: 0 }, console: { enabled: true } };
  const floodgate = await startFloodgate({ config, whenListening: true });
  const opsUrl = opsUrlOf(floodgate);
  const reported = { error: { code: -32601 }, id: 7 };
  for (const url of [floodgate.url, opsUrl])
    expect(JSON.parse((await send(url, post, CALL)).body)).toMatchObject(reported);
  expect((await send(opsUrl, { path: '/client/v4/gateway', headers: { authorization } })).status).toBe(200);
  const operatorsPaths = [
    '/console/',
    '/client/v4/gateway',
    '/client/v4/user/tokens',
    '/client/v4/gateway/keys',
  ];
  for (const path of [...operatorsPaths, '/console/v1/mainnet'])
    expect((await send(floodgate.url, { path, headers: { authorization } })).status, path).toBe(404);
  const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
  const socket = await send(floodgate.url, { path: '/console/v1/mainnet', headers: upgrade });
  expect(socket.status).toBe(404);
  expect((await send(opsUrl, { ...post, path: '/console/v1/mainnet' }, CALL)).status).toBe(401);
  await floodgate.stop();
});

it('without console.enabled no listener serves the console', async () => {
  for (const ops of [{}, { ops: { port: 0 } }]) {
    const floodgate = await startFloodgate({ config: { upstream: [NOBODY], ...ops }, whenListening: true });
    for (const url of [floodgate.url, opsUrlOf(floodgate) || floodgate.url])
      for (const path of ['/console', '/console/', '/console/sign-in'])
        expect((await send(url, { path, headers: { authorization } })).status, path).toBe(404);
    await floodgate.stop();
  }
});

describe('a server with a separate port for operators', () => {
  let floodgate: Floodgate;
  let opsUrl: string;
  beforeAll(async () => {
    const config = { upstream: [NOBODY], ops: { port: 0 } };
    floodgate = await startFloodgate({ config, whenListening: true });
    opsUrl = opsUrlOf(floodgate);
  });
  afterAll(() => floodgate?.stop());

  it.each(OPERATORS_PATHS)('serves %s at that port only', async (path, status) => {
    expect((await send(opsUrl, { path, headers: { authorization } })).status).toBe(status);
    for (const method of ['GET', 'POST']) {
      const hidden = await send(floodgate.url, { path, method, headers: { authorization } });
      expect(hidden.status).toBe(404);
      // The response does not reveal the paths of the other listener.
      expect(JSON.parse(hidden.body)).toEqual({
        error: `no route for ${method} ${path}; served: /v1/mainnet`,
        served: ['/v1/mainnet'],
      });
    }
  });

  it('serves the gateway at the public port only', async () => {
    const reported = { error: { code: -32601 }, id: 7 };
    expect(JSON.parse((await send(floodgate.url, post, CALL)).body)).toMatchObject(reported);
    const hidden = await send(opsUrl, post, CALL);
    expect(hidden.status).toBe(404);
    expect(JSON.parse(hidden.body).served).not.toContain('/v1/mainnet');
  });

  it.each([
    '/client/v4/%',
    '/client/v4/%zz',
    '/operations/%',
    '/metrics/%2e%2e',
    '/v1/../metrics',
    '//metrics',
    '/METRICS',
  ])('does not serve operator paths at the public port for %s', async (path) => {
    const { status, body } = await send(floodgate.url, { path, headers: { authorization } });
    expect([400, 404]).toContain(status);
    expect(body).not.toMatch(/success|floodgate_/);
  });

  it('counts the connections of both ports together', async () => {
    const count = async (): Promise<number> =>
      Number(
        /^floodgate_http_connections (\d+)$/m.exec((await send(opsUrl, { path: '/metrics' })).body)?.[1],
      );
    const open = request({ host: '127.0.0.1', port: new URL(floodgate.url).port, ...post });
    open.on('error', () => undefined).flushHeaders();
    await until('2 connections', async () => (await count()) === 2);
    open.destroy();
    await until('1 connection', async () => (await count()) === 1);
  });

  it('rejects an unknown Host with 421 at both ports, each with its error format (DNS rebinding)', async () => {
    const headers = { host: 'rebound.example:8420', authorization, 'content-type': 'application/json' };
    const call = await send(floodgate.url, { ...post, headers }, CALL);
    expect(call.status).toBe(421);
    expect(JSON.parse(call.body)).toMatchObject({ id: null, error: { code: -32600 } });
    expect(call.body).toContain('rebound.example');
    expect(call.body).toContain('http.allowedHosts');
    const rules = await send(opsUrl, { path: RULES, headers });
    expect(rules.status).toBe(421);
    expect(JSON.parse(rules.body)).toMatchObject({ success: false, result: null, errors: [{ code: 10421 }] });
    for (const path of ['/metrics', '/healthz', '/readyz', '/operations/nodes', '/client/v4/%'])
      expect((await send(opsUrl, { path, headers })).status).toBe(421);
  });
});

describe('a server with a single port', () => {
  let floodgate: Floodgate;
  beforeAll(async () => {
    const config = { host: 'localhost', upstream: [NOBODY], http: { allowedHosts: ['gateway.example'] } };
    floodgate = await startFloodgate({ config, whenListening: true });
  });
  afterAll(() => floodgate?.stop());

  it.each(OPERATORS_PATHS)('serves %s', async (path, status) => {
    expect((await send(floodgate.url, { path, headers: { authorization } })).status).toBe(status);
  });

  it('accepts a Host in http.allowedHosts, and rejects others', async () => {
    const get = (host: string) => send(floodgate.url, { path: RULES, headers: { host, authorization } });
    expect((await get('gateway.example')).status).toBe(200);
    const refused = await get('other.example');
    expect(refused.status).toBe(421);
    expect(JSON.parse(refused.body)).toMatchObject({ errors: [{ code: 10421 }] });
    expect(opsUrlOf(floodgate)).toBe(floodgate.url);
  });
});

it('a server with ops.socket serves operators at a Unix socket, and removes it when it stops', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-ops-'));
  try {
    const socketPath = join(folder, 'ops.sock');
    const config = { upstream: [NOBODY], ops: { socket: socketPath } };
    const floodgate = await startFloodgate({ config, whenListening: true });
    try {
      expect(opsUrlOf(floodgate)).toBe(`unix:${socketPath}`);
      expect(lstatSync(socketPath).mode & 0o777).toBe(0o660);
      // Browsers cannot use a Unix socket, so any Host is accepted.
      const headers = { authorization, host: 'any.example' };
      expect((await send({ socketPath }, { path: RULES, headers })).status).toBe(200);
      const rule = {
        scope: 'global',
        name: 'global',
        mode: 'enabled',
        profile_sensitivity: 'low',
        rate_sensitivity: 'low',
        burst_sensitivity: 'low',
      };
      const made = await send({ socketPath }, { path: RULES, method: 'POST', headers }, JSON.stringify(rule));
      expect(made.status).toBe(200);
      const audit = await send({ socketPath }, { path: RULES.replace(/rules$/, 'audit'), headers });
      expect(audit.body).toContain('"local"');
      expect((await send(floodgate.url, { path: '/metrics' })).status).toBe(404);
      await expect(startFloodgate({ config, whenListening: true })).rejects.toThrow(
        'a running program listens on it',
      );
      expect((await send({ socketPath }, { path: '/healthz' })).status).toBe(200);
    } finally {
      await floodgate.stop();
    }
    expect(existsSync(socketPath)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
