/** Lower bound for the cost of a guard: forwards each packet with its own id and returns the answer, nothing else. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { ServerAddress } from '../../src/platform/addresses/index.ts';

const BUFFER_BYTES = 8 * 1024 * 1024;
const IDS = 0x10000;

export interface BareRelay {
  readonly port: number;
  stop(): Promise<void>;
}

export async function startBareRelay(server: ServerAddress): Promise<BareRelay> {
  const clients = createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES }).bind(0, '127.0.0.1');
  const upstream = createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES }).bind(0, '127.0.0.1');
  await Promise.all([once(clients, 'listening'), once(upstream, 'listening')]);
  const waiting = new Array<{ port: number; address: string; id: number } | undefined>(IDS);
  let next = 0;
  clients.on('message', (packet, { port, address }) => {
    if (packet.length < 12) return;
    next = (next + 1) % IDS;
    waiting[next] = { port, address, id: packet.readUInt16BE(0) };
    packet.writeUInt16BE(next);
    upstream.send(packet, server.port, server.host);
  });
  upstream.on('message', (packet) => {
    const client = waiting[packet.readUInt16BE(0)];
    if (client === undefined) return;
    waiting[packet.readUInt16BE(0)] = undefined;
    packet.writeUInt16BE(client.id);
    clients.send(packet, client.port, client.address);
  });
  return {
    port: clients.address().port,
    async stop() {
      clients.close();
      upstream.close();
    },
  };
}
