import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../../../test/support/until.ts';
import { Connections } from './connections.ts';
import { ConnectionFailed } from './failures.ts';

let attempts: number;
const logged: string[] = [];
const log = (_: object, message: string) => void logged.push(message);
/** Messages of PostgreSQL: the login succeeded, and the limit of connections is reached. */
const READY = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
const FIELDS = 'SFATAL\0C53300\0Mtoo many connections\0\0';
const TOO_MANY = Buffer.from(`E\0\0\0${String.fromCharCode(FIELDS.length + 4)}${FIELDS}`, 'latin1');
/** What the database sends to a new client. Undefined: it closes each connection at once. */
let greeting: Buffer | undefined;
const server = createServer((socket) => {
  attempts++;
  socket.on('error', () => undefined);
  if (greeting === undefined) socket.destroy();
  else socket.once('data', () => socket.write(greeting ?? ''));
});
let connections: Connections;

beforeEach(async () => {
  attempts = 0;
  greeting = undefined;
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

it('at the connection limit of the database, an operation waits for a connection of the pool', async () => {
  greeting = READY;
  let release: () => void = () => undefined;
  const isFree = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { promise: first } = await new Promise<{ promise: Promise<void> }>((resolve) => {
    const promise = connections.borrow(() => {
      setImmediate(() => resolve({ promise }));
      return isFree;
    });
  });
  greeting = TOO_MANY;
  const second = connections.borrow(async () => 'done');
  try {
    await Promise.race([second, until('a second attempt to connect', () => attempts === 3)]);
  } finally {
    release();
  }
  expect(await second).toBe('done');
  await first;
});

it('at the connection limit of the database, an operation fails at once if the pool has no connection', async () => {
  greeting = TOO_MANY;
  await expect(connections.borrow(() => Promise.resolve())).rejects.toThrow(/too many connections/);
  expect(attempts).toBe(1);
});
