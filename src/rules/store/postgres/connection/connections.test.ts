import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Connections } from './connections.ts';
import { ConnectionFailed } from './failures.ts';

let attempts: number;
const logged: string[] = [];
const log = (_: object, message: string) => void logged.push(message);
/** A database that closes each connection at once. */
const server = createServer((socket) => {
  attempts++;
  socket.destroy();
});
let connections: Connections;

beforeEach(async () => {
  attempts = 0;
  logged.length = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const levels = { debug: log, info: log, warn: log, error: log };
  connections = new Connections(`postgres://user@127.0.0.1:${port}/rules`, { log: levels });
});
afterEach(async () => {
  await connections.close();
  server.close();
});

const query = { sql: 'select 1', parameters: [] } as unknown as Parameters<Connections['read']>[0];

it('a connection that the database closes is not tried again without retries', async () => {
  await expect(connections.borrow(() => Promise.resolve())).rejects.toThrow(ConnectionFailed);
  expect(attempts).toBe(1);
});

it('while the database is marked unreachable, only reads that detect its return connect to it', async () => {
  connections.markUnreachable(new ConnectionFailed('cut'));
  await expect(connections.read(query)).rejects.toThrow(ConnectionFailed);
  expect(attempts).toBe(0);
  await expect(connections.read(query, { evenIfAway: true })).rejects.toThrow(ConnectionFailed);
  expect(attempts).toBe(1);
  connections.markReachable();
  connections.markReachable();
  expect(connections.isUnreachable).toBe(false);
  expect(logged).toEqual(['rules database unreachable: rejecting changes', 'rules database reachable again']);
});
