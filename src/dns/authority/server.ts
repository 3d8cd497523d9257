import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { respond } from './respond.ts';
import type { ZoneData } from './zoneData.ts';

export interface AuthorityServer {
  readonly host: string;
  readonly port: number;
  stop(): Promise<void>;
}

const LENGTH_BYTES = 2;
const TCP_IDLE_MS = 10_000;
/** If the configured port is 0, at most this many free TCP ports are tried until one is also free for UDP. */
const PORT_ATTEMPTS = 20;

/** Serves zones over UDP and TCP on one port. Port 0 picks a port that is free for both. */
export async function serveZones(
  zones: readonly ZoneData[],
  host: string,
  port: number,
): Promise<AuthorityServer> {
  for (let attempt = 1; ; attempt++) {
    const open = new Set<Socket>();
    const tcp = createServer((socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      serveTcp(zones, socket);
    });
    tcp.listen(port, host);
    await once(tcp, 'listening');
    const address = tcp.address();
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    try {
      const udp = await serveUdp(zones, host, bound);
      return { host, port: bound, stop: () => stop(tcp, udp, open) };
    } catch (error) {
      tcp.close();
      if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function serveUdp(zones: readonly ZoneData[], host: string, port: number): Promise<UdpSocket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  socket.bind(port, host);
  await once(socket, 'listening');
  // Errors while sending are ignored. They occur if a client has closed its port.
  socket.on('error', () => {});
  socket.on('message', (query, client) => {
    // A query from port 0 is dropped, because no answer can be sent to this port (RFC 768).
    if (client.port === 0) return;
    const answer = respond(zones, query, false);
    if (answer !== undefined) socket.send(answer, client.port, client.address);
  });
  return socket;
}

function serveTcp(zones: readonly ZoneData[], socket: Socket): void {
  let pending = Buffer.alloc(0);
  socket.setTimeout(TCP_IDLE_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= LENGTH_BYTES && pending.length >= LENGTH_BYTES + pending.readUInt16BE(0)) {
      const end = LENGTH_BYTES + pending.readUInt16BE(0);
      const answer = respond(zones, pending.subarray(LENGTH_BYTES, end), true);
      pending = pending.subarray(end);
      if (answer === undefined) return void socket.destroy();
      socket.write(Buffer.concat([Uint8Array.of(answer.length >> 8, answer.length & 0xff), answer]));
    }
  });
}

async function stop(tcp: Server, udp: UdpSocket, open: ReadonlySet<Socket>): Promise<void> {
  for (const socket of open) socket.destroy();
  await Promise.all([
    new Promise((resolve) => udp.close(() => resolve(undefined))),
    new Promise((resolve) => tcp.close(resolve)),
  ]);
}
