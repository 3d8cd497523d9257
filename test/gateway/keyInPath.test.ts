import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { floodgate as command } from '../server/support/run.ts';
import { type HttpServer, startHttpServer } from '../support/httpServer.ts';
import { type OtlpCollector, startOtlpCollector } from '../support/otlpCollector.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { send } from './support/send.ts';
import { openWebSocket } from './support/webSocketClient.ts';

const CHAIN_ID = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };

let folder: string;
let accessLog: string;
let chain: SharedChain;
let node: HttpServer;
/** What the node received. */
const received: { body: string; headers: IncomingHttpHeaders; url: string | undefined }[] = [];
let collector: OtlpCollector;
let floodgate: FloodgateProcess;
let key: string;
let other: string;

const newKey = async (name: string): Promise<string> => {
  const { stdout } = await command(['key', 'create', '--data-dir', floodgate.dataDir, '--name', name]);
  return /^fgk_\S{40}/.exec(stdout)?.[0] ?? '';
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'floodgate-keys-'));
  accessLog = join(folder, 'access.log');
  chain = await startSharedChain();
  node = await startHttpServer(async (body, { headers, url }, response) => {
    received.push({ body, headers, url });
    const answer = await fetch(chain.anvil.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  collector = await startOtlpCollector();
  floodgate = await startFloodgateProcess({
    upstream: node.url,
    args: ['--log-access-file', accessLog, '--log-level', 'debug'],
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` },
  });
  key = await newKey('one');
  other = await newKey('other');
  await until('the gateway to require a key', async () => {
    return (await send(floodgate.gatewayUrl, { body: CHAIN_ID })).status === 401;
  });
});
afterAll(async () => {
  await floodgate?.stop();
  await collector?.stop();
  await node?.stop();
  await chain?.anvil.stop();
  rmSync(folder, { recursive: true, force: true });
});

const get = async (path: string, headers = {}) => {
  const response = await fetch(`${floodgate.url}${path}`, { headers, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

describe('an API key in the path or in X-API-Key', () => {
  it('permits calls, the explorer API, the OpenRPC document and WebSockets', async () => {
    const { gatewayUrl } = floodgate;
    for (const url of [`${gatewayUrl}/${key}`, `${gatewayUrl}/${key}/`])
      expect(await send(url, { body: CHAIN_ID })).toMatchObject({ status: 200, json: { result: '0x7a69' } });
    const headers = { 'x-api-key': key };
    expect((await send(gatewayUrl, { body: CHAIN_ID, headers })).status).toBe(200);
    const explorer = await get(`/v1/mainnet/${key}/api?module=account&action=txlistinternal&startblock=0`);
    expect(JSON.parse(explorer.text)).toHaveProperty('message');
    expect(explorer.status).toBe(200);
    expect(JSON.parse((await get(`/v1/31337/${key}/openrpc.json`)).text)).toHaveProperty('openrpc');
    const socket = await openWebSocket(`${gatewayUrl}/${key}`);
    expect((await socket.call('eth_chainId')).result).toBe('0x7a69');
    socket.close();
  });

  it('is rejected with 401 if it is unknown, or differs from another key of the request', async () => {
    const { gatewayUrl } = floodgate;
    expect((await send(`${gatewayUrl}/${key}x`, { body: CHAIN_ID })).status).toBe(401);
    const both = await send(`${gatewayUrl}/${key}?key=${other}`, { body: CHAIN_ID });
    expect(both).toMatchObject({ status: 401, json: { error: { code: -32000 } } });
    expect(both.text).toContain('different API keys');
    const headers = { authorization: `Bearer ${other}`, 'x-api-key': key };
    expect((await send(gatewayUrl, { body: CHAIN_ID, headers })).status).toBe(401);
    await expect(openWebSocket(`${gatewayUrl}/${key}?key=${other}`)).rejects.toThrow(/401/);
  });

  it('is in no response, redirect or page, also for wrong paths', async () => {
    const html = { accept: 'text/html', referer: `${floodgate.gatewayUrl}/${key}` };
    const below = ['', '/page.js', '/nothing', '/api/x', '//', `/${other}`];
    const paths = [
      ...below.map((path) => `/v1/mainnet/${key}${path}`),
      `/v1/${key}`,
      `/v1/${key}/mainnet`,
      `/v1/none/${key}/api`,
      `/v2/mainnet/${key}`,
      `/${key}`,
      `/console/${key}`,
      `/nothing?key=${key}`,
      `/client/v4/${key}`,
    ];
    for (const path of paths) {
      const { status, headers, text } = await get(path, html);
      expect(status, path).toBeGreaterThanOrEqual(400);
      expect(text + JSON.stringify([...headers]), path).not.toContain(key);
    }
  });

  it('is in no log, metric, tracing span or request to a node', async () => {
    const rejected = await send(`${floodgate.gatewayUrl}/${key}`, {
      body: '{',
      headers: { referer: `http://a/${key}` },
    });
    expect(rejected.status).toBe(400);
    const { text: metrics } = await get('/metrics');
    await until('spans of the requests', () => collector.spans.length > 0);
    await floodgate.stop();
    const logged = readFileSync(accessLog, 'latin1');
    expect(logged).toContain('/v1/mainnet/***/api');
    expect(received.length).toBeGreaterThan(0);
    const outputs = { logged, metrics, spans: JSON.stringify(collector.spans), output: floodgate.output() };
    for (const [name, text] of Object.entries({ ...outputs, received: JSON.stringify(received) }))
      for (const secret of [key, other]) expect(text.includes(secret), name).toBe(false);
  });
});
