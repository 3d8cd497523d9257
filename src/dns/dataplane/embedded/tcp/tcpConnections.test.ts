import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, vi } from 'vitest';
import { Scheduler } from '../../../../platform/scheduler/index.ts';
import { verdictOf } from '../../../detector/index.ts';
import { PacketFaults } from '../../index.ts';
import { TcpConnections } from './tcpConnections.ts';

// Replaces only the decision, because it takes 500 busy connections of one client until one is rejected.
vi.mock('./tcpAdmission.ts', () => ({ admit: () => ({ admitted: false }) }));

it('resets and counts a connection that is not admitted', async () => {
  const relay = new TcpConnections({
    servers: () => [],
    isInUse: () => false,
    isAnyInUse: () => false,
    onAnswer: () => undefined,
    mayTransfer: () => false,
    key: { high: 1, low: 2 },
    decide: () => ({ verdict: verdictOf('paid', 'unknownName'), userZone: 0, isNameListed: false }),
    countUser: () => undefined,
    maxQueries: 1,
    faults: new PacketFaults(() => undefined),
    scheduler: new Scheduler(),
  });
  const server = relay.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // listens on a port
  try {
    const socket = connect(port, '127.0.0.1');
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
    expect(relay.counts).toMatchObject({ accepted: 0, closed: { no_place: 1, stop: 0 } });
    expect(relay.connections).toBe(0);
  } finally {
    relay.close();
    server.close();
  }
});
