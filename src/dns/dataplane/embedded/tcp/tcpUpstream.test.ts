import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TcpUpstream } from './tcpUpstream.ts';

let servers: Server[];
beforeEach(async () => {
  // Connections are reset at the end.
  const accept = () => createServer((socket) => socket.on('error', () => undefined));
  servers = [accept(), accept()];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  for (const server of servers) server.close();
});

/** Starts to connect at time 0. Returns the index of the server to which the connection is established. */
async function connectedAt(nowMs: () => number, during: (upstream: TcpUpstream) => void): Promise<number> {
  const addresses = servers.map((server) => ({
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port, // it listens on TCP
  }));
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const upstream = new TcpUpstream(
    { servers: addresses, clockMs: nowMs, proxyHeader: () => Buffer.alloc(0) },
    { connect: end, data() {}, drain() {}, end },
  );
  during(upstream);
  await ended;
  const { server } = upstream;
  upstream.enforceConnectTimeout();
  expect(upstream.isWritable).toBe(true);
  upstream.close();
  return addresses.findIndex(({ port }) => port === server?.port);
}

it('a server that accepts the connection in time is used, however long the connection lasts', async () => {
  let nowMs = 0;
  const at = await connectedAt(
    () => nowMs,
    (upstream) => {
      upstream.enforceConnectTimeout();
      nowMs = 2_000;
      upstream.enforceConnectTimeout();
      nowMs = 60_000;
    },
  );
  expect(at).toBe(0);
});

it('the next server is tried if the first accepts no connection within two seconds', async () => {
  let nowMs = 0;
  const at = await connectedAt(
    () => nowMs,
    (upstream) => {
      nowMs = 2_001;
      upstream.enforceConnectTimeout();
    },
  );
  expect(at).toBe(1);
});
