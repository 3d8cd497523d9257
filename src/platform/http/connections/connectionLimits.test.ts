import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, type NetConnectOpts, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { anyReaders } from '../../../../test/support/anyReaders.ts';
import { hasOpenssl, makeCertificate, withOpenssl } from '../../../../test/support/certificate.ts';
import { until } from '../../../../test/support/until.ts';
import { createListener, type ListenerOptions } from '../listener.ts';
import { serveInOrder } from '../serveInOrder.ts';
import { ConnectionLimits } from './connectionLimits.ts';

const MAX = 30;
/** A single client gets a third of the maximum. */
const SHARE = MAX / 3;
const PROXY = '127.0.0.99';
const REQUEST = 'GET /late HTTP/1.1\r\nhost: x\r\n\r\n';

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve({
  max = MAX,
  path,
  ...options
}: ListenerOptions & { max?: number; path?: string } = {}) {
  const metrics = new Registry();
  const log = { warn: () => undefined };
  const isProxy = (address: string): boolean => address === PROXY;
  const limits = new ConnectionLimits({ max, reserved: 0, isProxy, metrics, log });
  const late: ServerResponse[] = [];
  const listener = createListener(options, {
    logger: pino({ level: 'silent' }),
    readers: anyReaders(),
    connections: limits.clients,
  });
  listener.get('/late', (_request, reply) => void late.push(reply.hijack().raw));
  await listener.ready();
  serveInOrder(listener.server);
  await listener.listen(path === undefined ? { host: '127.0.0.1', port: 0 } : { path });
  closing.push(() => {
    listener.server.closeAllConnections();
    return listener.close();
  });
  const at = path === undefined ? (listener.server.address() as AddressInfo) : { path };
  const open = async (localAddress?: string): Promise<Client> =>
    clientOf(connect({ ...at, ...(localAddress !== undefined && { localAddress }) } as NetConnectOpts));
  const openTls = async (): Promise<Client> =>
    clientOf(connectTls({ ...at, rejectUnauthorized: false }), 'secureConnect');
  /** Number of closed connections by reason and use. */
  const closed = async (reason: string, use: string): Promise<number> => {
    const values = (await metrics.getSingleMetric('floodgate_http_connections_limited_total')?.get())?.values;
    return values?.find(({ labels }) => labels['reason'] === reason && labels['use'] === use)?.value ?? 0;
  };
  return { open, openTls, late, closed, port: 'port' in at ? at.port : 0 };
}

interface Client {
  readonly socket: Socket;
  readonly text: () => string;
}

async function clientOf(socket: Socket, event = 'connect'): Promise<Client> {
  closing.push(() => socket.destroy());
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (more) => {
      text += more;
    });
  await Promise.race([once(socket, event), once(socket, 'close')]);
  return { socket, text: () => text };
}

const openOf = (clients: readonly Client[]): number =>
  clients.filter(({ socket }) => !socket.destroyed).length;

async function several(count: number, open: () => Promise<Client>): Promise<Client[]> {
  const clients: Client[] = [];
  for (let i = 0; i < count; i++) clients.push(await open());
  return clients;
}

/** Opens these numbers of connections, each from another address. None exceeds the share of its address. */
async function fill(
  counts: readonly number[],
  open: (address: string) => Promise<Client>,
): Promise<Client[]> {
  const clients: Client[] = [];
  for (const [i, count] of counts.entries())
    clients.push(...(await several(count, () => open(`127.0.0.${1 + i}`))));
  return clients;
}

describe('a listener with a limit on connections', () => {
  it('closes the oldest idle connection of a client at its share', async () => {
    const { open, closed } = await serve();
    const clients = await several(MAX, open);
    await until('the closed ones', () => openOf(clients) === SHARE);
    expect(openOf(clients.slice(-SHARE))).toBe(SHARE);
    expect(await closed('share', 'idle')).toBe(MAX - SHARE);
    expect(openOf([await open('127.0.0.2')])).toBe(1);
  });

  it('closes the new connection of a client at its share if none is idle', async () => {
    const { open, late, closed } = await serve();
    const clients = await several(SHARE, open);
    for (const { socket } of clients) socket.write(REQUEST);
    await until('the requests', () => late.length === SHARE);
    const more = await open();
    await until('the new one closed', () => more.socket.destroyed);
    expect(await closed('share', 'new')).toBe(1);
    late.pop()?.end('done');
    await until('a response', () => clients.some(({ text }) => text().includes('200 OK')));
    const another = await open();
    another.socket.write(REQUEST);
    await until('its request', () => late.length === SHARE);
    expect(openOf(clients)).toBe(SHARE - 1);
  });

  it('when it is full, gives a new client the place of an idle connection of the largest client', async () => {
    const { open, late, closed } = await serve();
    const clients = await fill([10, 6, 4, 4, 4, 2], open);
    const another = await open('127.0.0.50');
    another.socket.write(REQUEST);
    await until('its request', () => late.length === 1);
    expect(await closed('full', 'idle')).toBe(1);
    await until('one closed', () => openOf(clients) === MAX - 1);
    expect(clients[0]?.socket.destroyed).toBe(true);
  });

  it('when it is full of requests, gives a new client the place of the largest client', async () => {
    const { open, late, closed } = await serve({ max: 16 });
    const busy = async (address: string): Promise<Client> => {
      const client = await open(address);
      const before = late.length;
      client.socket.write(REQUEST);
      await until('its request or end', () => late.length > before || client.socket.destroyed);
      return client;
    };
    const clients = await fill([5, 4, 4, 3], busy);
    const another = await busy('127.0.0.50');
    expect(openOf([another])).toBe(1);
    expect(await closed('full', 'busy')).toBe(1);
    await until('one closed', () => openOf(clients) === 15);
    expect(clients[0]?.socket.destroyed).toBe(true);
  });

  it('has no share for the addresses of trusted proxies, and closes none of their connections', async () => {
    const { open, closed } = await serve();
    const ofProxy = await several(MAX, () => open(PROXY));
    const other = await open();
    await until('the other closed', () => other.socket.destroyed);
    expect(openOf(ofProxy)).toBe(MAX);
    expect(await closed('full', 'new')).toBe(1);
  });

  it('counts the connections of a Unix socket only in total', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-limits-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const { open } = await serve({ path: join(folder, 's') });
    const clients = await several(MAX, open);
    const more = await open();
    await until('the last closed', () => more.socket.destroyed);
    expect(openOf(clients)).toBe(MAX);
  });
});

describe.skipIf(!hasOpenssl)(`a TLS listener with a limit on connections${withOpenssl}`, () => {
  function tlsFiles() {
    const folder = mkdtempSync(join(tmpdir(), 'floodgate-limits-'));
    closing.push(() => rmSync(folder, { recursive: true, force: true }));
    const tls = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
    makeCertificate(tls);
    return tls;
  }

  it('counts unfinished handshakes, and replaces them by new connections', async () => {
    const { open, openTls, late } = await serve({ tls: tlsFiles() });
    const silent = await several(SHARE, open);
    const secured = await openTls();
    await until('the oldest closed', () => openOf(silent) === SHARE - 1);
    secured.socket.write(REQUEST);
    await until('the request', () => late.length === 1);
    const others = await several(2 * SHARE, openTls);
    await until('the others closed', () => openOf(silent) === 0);
    expect(openOf([secured])).toBe(1);
    late[0]?.end('done');
    await until('the response', () => secured.text().includes('done'));
    expect(openOf(others)).toBe(SHARE - 1);
    // The connection that was idle for a shorter time than all others is closed last.
    await several(SHARE - 1, openTls);
    expect(openOf([secured])).toBe(1);
    await openTls();
    await until('its end', () => secured.socket.destroyed);
  });

  it('closes connections whose client ends its side during the handshake at once', async () => {
    const { open } = await serve({ tls: tlsFiles(), handshakeTimeoutMs: 2 ** 30 });
    const silent = await several(3, open);
    for (const { socket } of silent) socket.end();
    await until('all closed', () => openOf(silent) === 0);
  });

  it('closes connections whose handshake takes too long', async () => {
    const { open } = await serve({ tls: tlsFiles(), handshakeTimeoutMs: 50 });
    const silent = await several(3, open);
    await until('all closed', () => openOf(silent) === 0);
  });
});
