/** HTTP clients that end their side of the connection after a request, and requests with unusual Host headers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newRule, rulesPath } from '../rules/support/samples.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const POSTS = 8;

const folder = mkdtempSync(join(tmpdir(), 'floodgate-half-closed-'));
const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
let chain: SharedChain;
beforeAll(async () => {
  if (hasOpenssl) makeCertificate(tls);
  chain = await startSharedChain();
});
afterAll(async () => {
  await chain?.anvil.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends bytes, and resolves with all bytes received until the server closes the connection. */
function answerTo(url: string, bytes: string, { isEnded = true } = {}): Promise<string> {
  const { hostname: host, port, protocol } = new URL(url);
  const at = { host, port: Number(port), rejectUnauthorized: false };
  const socket = protocol === 'https:' ? connectTls(at) : connect(at);
  if (isEnded) socket.end(bytes);
  else socket.write(bytes);
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('latin1').on('data', (more) => {
      text += more;
    });
    socket.on('error', () => undefined).on('close', () => resolve(text));
  });
}

const bodyOf = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);

function post(path: string, body: unknown, headers: readonly string[] = ['host: localhost']): string {
  const text = JSON.stringify(body);
  return [
    `POST ${path} HTTP/1.1`,
    ...headers,
    'content-type: application/json',
    `content-length: ${text.length}`,
    '',
    text,
  ].join('\r\n');
}

const CHAIN_ID = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };

/** Without a proxy, an address may begin at most 20 handshakes per second. */
const http = { trustedProxies: ['127.0.0.1'] };

const SERVERS = [
  { name: 'one process', options: {} },
  { name: 'two workers', options: { args: ['--workers', '2'] } },
  { name: 'two workers with an operators’ port', options: { args: ['--workers', '2', '--ops-port', '0'] } },
  ...(hasOpenssl
    ? [{ name: 'one process with TLS', options: { config: { tls, http, ops: { port: 0, tls } } } }]
    : []),
];

describe.each(SERVERS)('a server of $name', ({ options }) => {
  let floodgate: FloodgateProcess;
  let opsUrl: string;
  beforeAll(async () => {
    const upstream = chain.anvil.url;
    floodgate = await startFloodgateProcess({ upstream, whenListening: true, ...options });
    opsUrl = /"opsUrl":"([^"]+)"/.exec(floodgate.output())?.[1] ?? '';
    await until('a ready server', async () =>
      (await answerTo(opsUrl, 'GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n')).startsWith('HTTP/1.1 200 '),
    );
  });
  afterAll(() => floodgate?.stop());

  it('answers clients that end their side after the request', async () => {
    const authorized = ['host: localhost', `authorization: Bearer ${floodgate.token}`];
    const path = `/client/v4${rulesPath('half')}`;
    for (let i = 1; i <= POSTS; i++) {
      const called = await answerTo(floodgate.url, post('/v1/mainnet', CHAIN_ID));
      expect(called).toMatch(/^HTTP\/1\.1 200 [\s\S]*"result":"0x7a69"/);
      const created = await answerTo(opsUrl, post(path, newRule, authorized));
      expect(created).toMatch(/^HTTP\/1\.1 200 /);
    }
    const list = await answerTo(opsUrl, `GET ${path} HTTP/1.1\r\n${authorized.join('\r\n')}\r\n\r\n`);
    expect(list.match(/"modified_on"/g)).toHaveLength(POSTS);
  });

  it('closes connections whose clients end their side within a request', async () => {
    for (const url of [floodgate.url, opsUrl]) {
      expect(await answerTo(url, 'POST /v1/mainnet HTTP/1.1\r\nhost: lo')).toMatch(/^HTTP\/1\.1 400 /);
      const part = post('/v1/mainnet', CHAIN_ID).slice(0, -1);
      expect(await answerTo(url, part)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it.each([
    ['no Host header', [], '400 no Host header'],
    ['two equal Host headers', ['host: localhost', 'Host: localhost'], '400 more than one Host header'],
    ['two different Host headers', ['host: localhost', 'hOST: example.com'], '400 more than one Host header'],
    ['an unknown Expect', ['host: localhost', 'expect: proof'], '417 Expect header is "proof"'],
  ])('rejects requests with %s', async (_name, headers, expected) => {
    const status = expected.slice(0, 3);
    for (const url of [floodgate.url, opsUrl])
      for (const path of ['/v1/mainnet', `/client/v4${rulesPath('a')}`, '/healthz']) {
        const text = await answerTo(url, post(path, CHAIN_ID, headers), { isEnded: false });
        expect(text).toContain(`HTTP/1.1 ${status} `);
        const [first] = [JSON.parse(bodyOf(text))].map(({ error, errors }) => error ?? errors[0]);
        expect(first.message).toContain(expected.slice(4));
      }
  });

  it('accepts a request whose target is a whole URL, and checks the name in it', async () => {
    const get = (target: string, host: string) =>
      answerTo(opsUrl, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    expect(await get('http://localhost/healthz', 'localhost')).toContain('HTTP/1.1 200 ');
    expect(await get('http://rebound.example/healthz', 'localhost')).toContain('HTTP/1.1 421 ');
  });

  it('rejects a WebSocket with two Host headers', async () => {
    const headers = [
      'upgrade: websocket',
      'connection: upgrade',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    const request = `GET /v1/mainnet HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n${headers.join('\r\n')}\r\n\r\n`;
    expect(await answerTo(floodgate.url, request, { isEnded: false })).toMatch(/^HTTP\/1\.1 400 /);
  });
});
