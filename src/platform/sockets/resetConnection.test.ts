import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { resetConnection } from './resetConnection.ts';

let server: Server;
let errors: string[];
beforeEach(async () => {
  errors = [];
  server = createServer({ allowHalfOpen: true }, (socket) =>
    socket.on('error', ({ message }) => errors.push(`server: ${message}`)).resume(),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => {
  server.close();
});

/** Starts a connection. */
function start(): Socket {
  const { port } = server.address() as AddressInfo; // it listens on a port
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  return socket.on('error', ({ message }) => errors.push(`client: ${message}`));
}

/** Returns the sockets of both ends of an established connection. */
async function established(): Promise<{ socket: Socket; peer: Socket }> {
  const socket = start();
  const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'connect')]);
  return { socket, peer };
}

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => socket.on('close', () => resolve()));

it('an established connection is closed with a reset', async () => {
  const { socket, peer } = await established();
  resetConnection(socket);
  await closed(peer);
  expect(errors).toEqual(['server: read ECONNRESET']);
});

it('an established connection is closed with a reset after its end was sent', async () => {
  const { socket, peer } = await established();
  await Promise.all([once(peer, 'end'), once(socket.end(), 'finish')]);
  resetConnection(socket);
  await closed(socket);
  // Without a reset, the first byte would be accepted.
  peer.write('x');
  await closed(peer);
  expect(errors).toEqual(['server: write EPIPE']);
});

it('a connection whose end is being sent is closed', async () => {
  const { socket, peer } = await established();
  socket.end();
  resetConnection(socket);
  await Promise.all([closed(socket), once(peer, 'end')]);
  peer.destroy();
  expect(errors).toEqual([]);
});

it('a connection that is not established is closed at once', async () => {
  const socket = start();
  resetConnection(socket);
  expect(socket.destroyed).toBe(true);
  await closed(socket);
});
