import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect, it } from 'vitest';
import { until } from '../../../../../test/support/until.ts';
import { Scheduler } from '../../../../platform/scheduler/index.ts';
import { verdictOf } from '../../../detector/index.ts';
import { nameToWire, QueryType, queryPacket } from '../../../protocol/index.ts';
import { PacketFaults } from '../../index.ts';
import { TcpConnections } from './tcpConnections.ts';

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port; // listens on a port
}

it('resets and counts a connection that is not admitted', async () => {
  // The query of the first client waits for this server, so its connection cannot be replaced.
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  const dnsServer = { host: '127.0.0.1', port: await portOf(silent) };
  const connections = new TcpConnections({
    servers: () => [dnsServer],
    isInUse: () => true,
    isAnyInUse: () => true,
    onAnswer: () => undefined,
    mayTransfer: () => false,
    key: { high: 1, low: 2 },
    decide: () => ({ verdict: verdictOf('paid', 'unknownName'), userZone: 0, isNameListed: false }),
    countUser: () => undefined,
    maxQueries: 10,
    faults: new PacketFaults(() => undefined),
    scheduler: new Scheduler(),
    slots: { capacity: 1, reserved: 0 },
  });
  const server = connections.createServer();
  const port = await portOf(server);
  const first = connect(port, '127.0.0.1').on('error', () => undefined);
  try {
    const query = queryPacket(nameToWire('www.example.test'), QueryType.A, 1);
    first.write(Buffer.concat([Uint8Array.of(0, query.length), query]));
    await until('the query to wait', () => connections.serverConnections === 1);
    const second = connect(port, '127.0.0.1');
    const [error] = await once(second, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect(connections.counts).toMatchObject({ accepted: 1, closed: { no_slot: 1, stop: 0 } });
    expect(connections.connections).toBe(1);
  } finally {
    connections.close();
    first.destroy();
    server.close();
    silent.close();
  }
});
