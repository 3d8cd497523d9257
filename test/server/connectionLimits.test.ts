/** Floods of connections to a server with few file descriptors: other clients, operators and DNS are still served. */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { atEnd } from '../dns/support/atEnd.ts';
import { openUdpClient } from '../dns/support/clients.ts';
import { askTcp, query, RCODE, type Target } from '../dns/support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from '../dns/support/guardInFront.ts';
import { openWebSocket } from '../gateway/support/webSocketClient.ts';
import { freePort } from '../support/freePort.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const LOOPBACK = '127.0.0.1';
const NO_NODE = 'http://127.0.0.1:9';
const KNOWN = query(`www.${ZONE_NAME}`);
/** Addresses of the flood, and connections of each. Together they open more than the server has descriptors. */
const FLOODERS = 8;
const CONNECTIONS = 300;
const MAX_OPEN_FILES = 1_600;
/** A call that needs no node. */
const CALL = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'rpc.discover', params: [] });

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Opens as many connections as possible, each of which sends these bytes. */
async function flood(url: string, bytes: string, flooders = FLOODERS): Promise<Socket[]> {
  const port = Number(new URL(url).port);
  const opened = Array.from({ length: flooders * CONNECTIONS }, (_, i) =>
    connect({ host: LOOPBACK, port, localAddress: `127.0.1.${1 + (i % flooders)}` })
      .on('error', () => undefined)
      .resume(),
  );
  sockets.push(...opened);
  for (const socket of opened) socket.write(bytes);
  await until('all connections are open or closed', () => opened.every(({ connecting }) => !connecting));
  await until('some are closed', () => opened.some(({ destroyed }) => destroyed));
  return opened;
}

/** Sends a request on a new connection. Resolves with its status; with undefined if there is no response. */
function statusOf(url: string, body?: string, localAddress = '127.0.2.1'): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const method = body === undefined ? 'GET' : 'POST';
    request(url, { agent: false, method, headers, localAddress }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', () => resolve(undefined))
      .end(body);
  });
}

const opsUrlOf = (floodgate: FloodgateProcess): string =>
  /"opsUrl":"([^"]+)"/.exec(floodgate.output())?.[1] ?? '';

async function started(options: Parameters<typeof startFloodgateProcess>[0]): Promise<FloodgateProcess> {
  const floodgate = await startFloodgateProcess({ whenListening: true, ...options });
  atEnd(() => floodgate.kill());
  return floodgate;
}

async function metricOf(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

const FLOODS = [
  ['send nothing', ''],
  ['send a part of a request', 'POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\n'],
  [
    'send a body slowly',
    'POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  ],
] as const;

describe.each(FLOODS)('a flood of connections that %s', (_name, bytes) => {
  it('leaves connections for other clients, operators and DNS over TCP', async () => {
    const authority = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
    atEnd(() => authority.stop());
    const dns: Target = { host: LOOPBACK, port: await freePort() };
    const floodgate = await started({
      maxOpenFiles: MAX_OPEN_FILES,
      config: {
        upstream: [NO_NODE],
        ops: { port: 0 },
        dns: {
          account: 'a',
          listen: [`${LOOPBACK}:${dns.port}`],
          servers: [`${LOOPBACK}:${authority.port}`],
        },
      },
    });
    const opsUrl = opsUrlOf(floodgate);
    expect(floodgate.output()).toContain('low limit of open files');
    const max = await metricOf(opsUrl, 'floodgate_http_max_connections');
    expect(max).toBeLessThan(MAX_OPEN_FILES - 1_048);
    await flood(floodgate.url, bytes);
    expect(await statusOf(`${floodgate.url}/v1/mainnet`, CALL)).toBe(200);
    expect(await statusOf(`${opsUrl}/healthz`)).toBe(200);
    const answers = await Promise.all(Array.from({ length: 30 }, () => askTcp([KNOWN], dns)));
    for (const [answer] of answers) expect(answer).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
    expect(await (await openUdpClient()).ask(KNOWN, dns)).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
    expect(readdirSync(`/proc/${floodgate.process.pid}/fd`).length).toBeLessThan(MAX_OPEN_FILES - 1_000);
    expect(await metricOf(opsUrl, 'floodgate_http_connections')).toBeLessThanOrEqual(max);
  });

  it('leaves connections for other clients and operators of a server with workers', async () => {
    const floodgate = await started({ maxOpenFiles: 700, config: { upstream: [NO_NODE], workers: 2 } });
    await flood(floodgate.url, bytes);
    for (let i = 0; i < 4; i++) {
      expect(await statusOf(`${floodgate.url}/v1/mainnet`, CALL)).toBe(200);
      expect(await statusOf(`${floodgate.url}/healthz`)).toBe(200);
    }
  });
});

/** Stops the workers of a server with SIGSTOP. Returns a function that continues them. */
function stopWorkers({ process: { pid } }: FloodgateProcess): () => void {
  if (pid === undefined) throw new Error('the server has no process id');
  // Ends the whole process group: a stopped worker would outlive the server, and keep its output open.
  atEnd(() => process.kill(-pid, 'SIGKILL'));
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  const signal = (name: NodeJS.Signals): void => {
    for (const worker of workers) process.kill(Number(worker), name);
  };
  signal('SIGSTOP');
  return () => signal('SIGCONT');
}

it('DNS over TCP is answered while connections wait for workers that hang', async () => {
  const authority = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], LOOPBACK, 0);
  atEnd(() => authority.stop());
  const dns: Target = { host: LOOPBACK, port: await freePort() };
  const guard = {
    account: 'a',
    listen: [`${LOOPBACK}:${dns.port}`],
    servers: [`${LOOPBACK}:${authority.port}`],
  };
  const config = { upstream: [NO_NODE], workers: 2, ops: { port: 0 }, dns: guard };
  const floodgate = await started({ maxOpenFiles: MAX_OPEN_FILES, config });
  const opsUrl = opsUrlOf(floodgate);
  stopWorkers(floodgate);
  await flood(floodgate.url, '');
  expect(await metricOf(opsUrl, 'floodgate_worker_connections_closed_total')).toBeGreaterThan(0);
  const answers = await Promise.all(Array.from({ length: 30 }, () => askTcp([KNOWN], dns)));
  for (const [answer] of answers) expect(answer).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
});

it('clients whose connections wait for workers take turns', async () => {
  const floodgate = await started({ config: { upstream: [NO_NODE], workers: 2 } });
  const descriptors = (): number => readdirSync(`/proc/${floodgate.process.pid}/fd`).length;
  const before = descriptors();
  const continueWorkers = stopWorkers(floodgate);
  const answered: string[] = [];
  const open = (client: string): void => {
    const port = Number(new URL(floodgate.url).port);
    const socket = connect({ host: LOOPBACK, port, localAddress: client });
    sockets.push(socket);
    socket.on('error', () => undefined).once('data', () => answered.push(client));
    socket.write(
      `POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${CALL.length}\r\n\r\n${CALL}`,
    );
  };
  /** Fewer than one client's share of the connections that may wait. */
  const many = 200;
  const [greedy, other] = ['127.0.1.1', '127.0.2.1'];
  for (let i = 0; i < many; i++) open(greedy);
  await until('the connections are accepted', () => descriptors() >= before + many);
  open(other);
  await until('the last one is accepted', () => descriptors() > before + many);
  continueWorkers();
  await until('the last one is answered', () => answered.includes(other));
  expect(answered.indexOf(other)).toBeLessThan(many / 2);
});

it('a flood of connections from one address leaves two thirds of the maximum', async () => {
  const config = { upstream: [NO_NODE], http: { maxConnections: 90 } };
  const floodgate = await started({ config });
  const opened = await flood(floodgate.url, '', 1);
  await until('the others closed', () => opened.filter(({ destroyed }) => !destroyed).length === 30);
  const closed = 'floodgate_http_connections_limited_total{reason="share",use="idle"}';
  expect(await metricOf(floodgate.url, closed.replaceAll(/[{}]/g, '\\$&'))).toBe(CONNECTIONS - 30);
});

it('connections with subscriptions are closed after those with requests', async () => {
  const floodgate = await started({ config: { upstream: [NO_NODE], http: { maxConnections: 16 } } });
  const live = await openWebSocket(`${floodgate.url}/v1/mainnet`);
  await live.call('eth_subscribe', 'newHeads');
  const opened = await flood(floodgate.url, FLOODS[2][1]);
  expect(await statusOf(`${floodgate.url}/healthz`)).toBe(200);
  expect(opened.some(({ destroyed }) => destroyed)).toBe(true);
  expect(await live.call('eth_unsubscribe', '0x0')).toMatchObject({ result: false });
  live.close();
});
