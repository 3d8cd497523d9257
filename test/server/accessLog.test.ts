import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../../src/devchain/index.ts';
import { send } from '../gateway/support/send.ts';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { floodgate as command } from './support/run.ts';

const LINE =
  /^(\S+) - - \[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$/;
/** Maximum number of successive rejections on a connection. One more closes it. */
const REJECTED = 32;
const SECRET = 'Zq3r5t7w9y1u3i5o7p9a1s3d5f7g9h1j3k5l7z9x';

let folder: string;
let path: string;
let anvil: Anvil;
let floodgate: Floodgate;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-access-'));
  path = join(folder, 'access.log');
  anvil = await startAnvil();
  floodgate = await startFloodgate({
    upstream: anvil.url,
    args: ['--log-access-file', path, '--http-trusted-proxies', '127.0.0.1'],
  });
});
afterAll(async () => {
  await floodgate?.stop();
  await anvil?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const lines = (): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : []);
/** Waits for the line with this User-Agent. Returns client, request, status, bytes and referer. */
async function lineOf(agent: string): Promise<readonly string[]> {
  const line = await until(`a line with the User-Agent ${agent}`, () =>
    lines().find((each) => each.endsWith(` "${agent}"`)),
  );
  expect(line).toMatch(LINE);
  return LINE.exec(line)?.slice(1, 6) ?? [];
}
const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };

describe('the access log', () => {
  it('has a line for a call, with the size of its response', async () => {
    const headers = {
      'user-agent': 'a call',
      'x-forwarded-for': '192.0.2.7',
      referer: 'https://a.example/b?c=d',
    };
    const { text } = await send(floodgate.gatewayUrl, { headers, body: call });
    expect(await lineOf('a call')).toEqual([
      '192.0.2.7',
      'POST /v1/mainnet HTTP/1.1',
      '200',
      String(Buffer.byteLength(text)),
      'https://a.example',
    ]);
  });

  it('has a line for the rules API, and for responses with 401, 404 and 421', async () => {
    const rules = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules';
    const { text } = await send(`${floodgate.url}${rules}?page=1`, {
      method: 'GET',
      headers: { 'user-agent': 'an operator', authorization: `Bearer ${floodgate.token}` },
    });
    expect((await lineOf('an operator')).slice(1, 4)).toEqual([
      `GET ${rules}?page=1 HTTP/1.1`,
      '200',
      String(Buffer.byteLength(text)),
    ]);
    await send(`${floodgate.url}${rules}`, { method: 'GET', headers: { 'user-agent': 'a stranger' } });
    expect((await lineOf('a stranger'))[2]).toBe('401');
    await send(`${floodgate.url}/nothing`, { method: 'GET', headers: { 'user-agent': 'a lost one' } });
    expect((await lineOf('a lost one'))[2]).toBe('404');
    await send(`${floodgate.url}/healthz`, {
      method: 'GET',
      headers: { 'user-agent': 'a page', host: 'rebound.example' },
    });
    expect((await lineOf('a page'))[2]).toBe('421');
  });

  it('has a line for a WebSocket, and one with 499 for a client that disconnected', async () => {
    const socket = await openWebSocket(floodgate.gatewayUrl, { 'user-agent': 'a WebSocket' });
    expect((await lineOf('a WebSocket')).slice(1, 4)).toEqual(['GET /v1/mainnet HTTP/1.1', '101', '-']);
    socket.close();
    const { hostname, port } = new URL(floodgate.url);
    const client = connect(Number(port), hostname);
    await once(client, 'connect');
    client.write(
      'POST /v1/mainnet HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a coward\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    client.end();
    client.destroy();
    expect((await lineOf('a coward'))[2]).toBe('499');
  });

  it('has a line for each of many identical rejected calls', async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_sign","params":[]}';
    const head =
      'POST /v1/mainnet HTTP/1.1\r\nHost: localhost\r\nUser-Agent: a flood\r\nContent-Type: application/json\r\n';
    const { hostname, port } = new URL(floodgate.url);
    const client = connect(Number(port), hostname);
    let answers = '';
    client.on('data', (bytes) => {
      answers += bytes;
    });
    client.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(REJECTED));
    await until('all responses', () => answers.split('HTTP/1.1 403').length === REJECTED + 1);
    client.destroy();
    await until(
      'a line for each call',
      () => lines().filter((line) => line.endsWith('"a flood"')).length === REJECTED,
    );
  });

  it('contains no API key, and escapes quotes and control characters from clients', async () => {
    const created = await command(['key', 'create', '--data-dir', floodgate.dataDir, '--name', 'a']);
    const [key = ''] = /^fgk_\S+/.exec(created.stdout) ?? [];
    expect(key.length).toBeGreaterThan(40);
    const sendFrom = (agent: string, url: string) =>
      send(url, { headers: { 'user-agent': agent, authorization: `Bearer ${SECRET}` }, body: call });
    await sendFrom('with a key', `${floodgate.gatewayUrl}?key=${key}`);
    await sendFrom('with a key in the path', `${floodgate.gatewayUrl}/${SECRET}`);
    await sendFrom('with a hidden key', `${floodgate.gatewayUrl}?k%65y=${SECRET}&apikey=${SECRET}`);
    expect((await lineOf('with a key'))[1]).toBe('POST /v1/mainnet?key=*** HTTP/1.1');
    expect((await lineOf('with a key in the path'))[1]).toBe('POST /v1/mainnet/*** HTTP/1.1');
    await lineOf('with a hidden key');
    const agent = 'evil" 200 1 "\u009b2J\u00ff';
    await send(`${floodgate.url}/healthz`, { method: 'GET', headers: { 'user-agent': agent } });
    await lineOf('evil\\" 200 1 \\"\\x9b2J\\xff');
    const text = readFileSync(path, 'latin1');
    for (const secret of [key, SECRET, floodgate.token]) expect(text).not.toContain(secret);
    for (const line of lines()) expect(line).toMatch(LINE);
  });

  it('keeps the server from starting if its file cannot be written', async () => {
    const file = join(folder, 'none', 'access.log');
    const args = ['start', '--role', 'rules', '--port', '0', '--data-dir', join(folder, 'data')];
    const { code, stderr } = await command([...args, '--log-access-file', file]);
    expect(stderr).toContain('log.accessFile cannot be written: ENOENT');
    expect(code).toBe(64);
  });
});
