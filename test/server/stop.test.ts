import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { askTcp, query } from '../dns/support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { cleanEnvironment } from '../support/cleanEnvironment.ts';
import { freePort } from '../support/freePort.ts';
import { PROGRAM } from '../support/program.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { spawnGuarded } from '../support/spawn.ts';
import { startFloodgate, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type FaultyNode, startFaultyNode } from '../traces/support/faultyNode.ts';

const LOOPBACK = '127.0.0.1';
const BALANCE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_getBalance',
  params: [`0x${'12'.repeat(20)}`, 'latest'],
};

describe('a graceful stop', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-stop-'));
  let chain: SharedChain;
  let node: FaultyNode;

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startFaultyNode(chain.anvil.url);
  });
  afterAll(async () => {
    await node?.stop();
    await chain?.anvil.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  // After a failed test, too.
  afterEach(() => {
    node.delay = undefined;
    node.replaceResponse = undefined;
  });

  const post = (url: string): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(BALANCE),
    });

  it('finishes running requests, rejects new ones, closes the store and exits with 0', async () => {
    // A stop that waited for idle connections would reach this time limit.
    const args = ['--stop-timeout-ms', '600000'];
    const floodgate = await startFloodgateProcess({ upstream: node.url, dataDir, args });
    let hurry = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    // The node delays the response to the call until `hurry` is called.
    node.delay = slow;
    node.asked.clear();
    const underWay = post(floodgate.gatewayUrl);
    await until('the request at the node', () => node.asked.has('eth_getBalance'));
    const stopped = floodgate.stop();
    await until('new requests to be rejected', () =>
      fetch(`${floodgate.url}/healthz`).then(
        ({ status }) => status === 503,
        () => true,
      ),
    );
    expect(floodgate.process.exitCode).toBe(null);
    hurry();
    const response = await underWay;
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: 1, result: '0x0' });
    expect(await stopped).toBe(0);
    node.delay = undefined;

    // The lock is released, and the data is intact.
    const next = await startFloodgateProcess({ upstream: node.url, dataDir });
    expect(await next.stop()).toBe(0);
    expect(next.output()).not.toContain('"level":40');
  });

  it('serves requests for stopDelayMs while it is not ready', async () => {
    const args = ['--stop-delay-ms', '600000'];
    const floodgate = await startFloodgateProcess({ upstream: node.url, dataDir, args });
    const stopped = floodgate.stop();
    await until('the server not to be ready', async () => {
      const { status, checks } = await fetch(`${floodgate.url}/readyz`).then(async (response) => ({
        status: response.status,
        checks: await response.text(),
      }));
      return status === 503 && checks.includes('stopping');
    });
    expect(await post(floodgate.gatewayUrl).then((response) => response.json())).toMatchObject({
      result: '0x0',
    });
    expect((await fetch(`${floodgate.url}/healthz`)).status).toBe(200);
    // A second SIGINT ends the process, so that an operator does not have to wait.
    floodgate.process.kill('SIGINT');
    await stopped.catch(() => undefined);
  });

  it('is visible at the operators’ port until the end', async () => {
    const args = ['--stop-timeout-ms', '600000', '--ops-port', '0'];
    const floodgate = await startFloodgate({ upstream: node.url, args, whenListening: true });
    const opsUrl = /"opsUrl":"([^"]+)"/.exec(floodgate.output())?.[1];
    await until('a ready server', async () => (await fetch(`${opsUrl}/readyz`)).status === 200);
    let hurry = (): void => undefined;
    node.delay = new Promise<void>((resolve) => {
      hurry = resolve;
    });
    node.asked.clear();
    const underWay = post(floodgate.gatewayUrl);
    await until('the request at the node', () => node.asked.has('eth_getBalance'));
    const stopped = floodgate.stop();
    await until('"stopping" in /readyz', async () => {
      const answer = await fetch(`${opsUrl}/readyz`);
      return answer.status === 503 && (await answer.text()).includes('stopping');
    });
    await until('the public port to be closed', () =>
      fetch(floodgate.gatewayUrl).then(
        () => false,
        () => true,
      ),
    );
    expect((await fetch(`${opsUrl}/metrics`)).status).toBe(200);
    hurry();
    node.delay = undefined;
    expect((await underWay).status).toBe(200);
    expect(await stopped).toBe(0);
    await expect(fetch(`${opsUrl}/healthz`)).rejects.toThrow();
  });

  it('continues after a second SIGTERM, and ends immediately with 130 at a SIGINT', async () => {
    const args = ['--stop-timeout-ms', '600000', '--ops-port', '0'];
    const floodgate = await startFloodgateProcess({ upstream: node.url, args, whenListening: true });
    const opsUrl = /"opsUrl":"([^"]+)"/.exec(floodgate.output())?.[1];
    node.delay = new Promise(() => undefined); // the node never answers
    node.asked.clear();
    const underWay = post(floodgate.gatewayUrl).catch((error: unknown) => error);
    await until('the request at the node', () => node.asked.has('eth_getBalance'));
    const ended = once(floodgate.process, 'exit');
    floodgate.process.kill('SIGTERM');
    await until('"stopping" in the log', () => floodgate.output().includes('"msg":"stopping'));
    floodgate.process.kill('SIGTERM');
    // The server still responds after it has handled the signal.
    await until('"stopping" in /readyz', async () =>
      (await (await fetch(`${opsUrl}/readyz`)).text()).includes('stopping'),
    );
    floodgate.process.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    node.delay = undefined;
    await underWay;
  });

  it('aborts requests that still run after --stop-timeout-ms', async () => {
    const args = ['--stop-timeout-ms', '100'];
    const floodgate = await startFloodgateProcess({ upstream: node.url, dataDir, args });
    node.replaceResponse = () => undefined; // the node never answers
    const underWay = post(floodgate.gatewayUrl).catch((error: unknown) => error);
    const code = await floodgate.stop();
    node.replaceResponse = undefined;
    expect(code).toBe(0);
    await underWay;
  });
});

it('a node that sends its response without end does not delay a stop', async () => {
  const chain = await startSharedChain();
  const node = await startFaultyNode(chain.anvil.url);
  let endless = 0;
  node.replaceResponse = (response, text) => {
    if (!text.includes('"traceAddress"')) {
      response.end(text);
      return;
    }
    const timer = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(timer));
    endless++;
  };
  const floodgate = await startFloodgateProcess({ upstream: node.url, whenListening: true });
  await until('the request for a block', () => endless > 0);
  expect(await floodgate.stop()).toBe(0);
  await node.stop();
  await chain.anvil.stop();
});

it('an incomplete request does not delay a stop', async () => {
  const floodgate = await startFloodgateProcess({ args: ['--stop-timeout-ms', '600000'] });
  const { hostname, port } = new URL(floodgate.url);
  const halves = [
    'GET /healthz HTTP/1.1\r\nhost: localhost',
    `POST /client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${floodgate.token}\r\ncontent-length: 100\r\n\r\n{`,
    'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\nGET /healthz',
  ];
  const sockets = halves.map((half) => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    socket.write(half);
    return socket;
  });
  await until('three connections', async () => {
    const metrics = await (await fetch(`${floodgate.url}/metrics`)).text();
    return Number(/^floodgate_http_connections (\d+)/m.exec(metrics)?.[1]) >= halves.length;
  });
  expect(await floodgate.stop()).toBe(0);
  for (const socket of sockets) socket.destroy();
});

it('clients that close their DNS connections meanwhile do not delay a stop', async () => {
  const authority = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  const dns = { host: LOOPBACK, port: await freePort() };
  const settings = {
    account: 'a',
    listen: [`${LOOPBACK}:${dns.port}`],
    servers: [`${LOOPBACK}:${authority.port}`],
  };
  try {
    // Whether a connection closes exactly during the stop is random.
    for (let i = 0; i < 4; i++) {
      const floodgate = await startFloodgateProcess({ config: { role: 'rules,guard', dns: settings } });
      await Promise.all(Array.from({ length: 50 }, () => askTcp([query(`www.${ZONE_NAME}`)], dns)));
      expect(await floodgate.stop()).toBe(0);
    }
  } finally {
    await authority.stop();
  }
});

it('SIGTERM during the start ends the server immediately', async () => {
  const asked: Socket[] = [];
  const silent = createServer((socket) => asked.push(socket.on('error', () => undefined)));
  await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
  const { port } = silent.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-starting-'));
  const args = ['start', '--upstream', `http://127.0.0.1:${port}`, '--port', '0', '--data-dir', folder];
  const child = spawnGuarded(process.execPath, [PROGRAM, ...args], { env: cleanEnvironment() });
  const ended = once(child, 'exit');
  await until('the request at the node', () => asked.length > 0);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(readdirSync(folder)).not.toContain('floodgate.lock');
  for (const socket of asked) socket.destroy();
  silent.close();
  rmSync(folder, { recursive: true, force: true });
});

it('the server does not start and prints the reason if the limit of open files is too low', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'floodgate-files-'));
  const command = `ulimit -n 64 && exec "$0" "$1" start --role rules --port 0 --data-dir "$2"`;
  const child = spawnGuarded('sh', ['-c', command, process.execPath, PROGRAM, folder], {
    env: cleanEnvironment(),
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(stderr).toContain('the limit of open files is 64, at least 128 are needed');
  expect(stderr).not.toContain('    at ');
  rmSync(folder, { recursive: true, force: true });
});
