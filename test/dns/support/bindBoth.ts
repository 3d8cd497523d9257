import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';

const LOOPBACK = '127.0.0.1';

/**
 * Binds a UDP socket and a TCP server to one port. A port that is free over TCP may be in use over UDP, so this may
 * need several attempts.
 */
export async function bindBoth(): Promise<{ udp: Socket; tcp: Server; port: number }> {
  const tcp = createServer().listen(0, LOOPBACK);
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo; // it listens on TCP
  const udp = createSocket('udp4');
  try {
    await once(udp.bind(port, LOOPBACK), 'listening');
    return { udp, tcp, port };
  } catch (error) {
    udp.close();
    tcp.close();
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    return bindBoth();
  }
}
