import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { serialOf, transferZone } from './zoneTransfer.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function serving(onConnection: (socket: Socket) => void) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(
    () => server.close(),
    () => open.forEach((socket) => void socket.destroy()),
  );
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return { server: { host: '127.0.0.1', port }, open };
}

/** Resolves when the socket is closed, with or without a reset. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });

it('a transfer from a server that sends single bytes fails after the maximum duration', async () => {
  const { server, open } = await serving((socket) => {
    const timer = setInterval(() => socket.write(Uint8Array.of(0xff)), 20);
    socket.on('close', () => clearInterval(timer));
  });
  const bytes: number[] = [];
  const transfer = async (maxMs: number) => {
    const onProgress = () => bytes.push(1);
    for await (const _ of transferZone('example.test', server, { maxMs, onProgress }))
      throw new Error('none');
  };
  // On a busy machine, the first of these durations may be too short for a single byte.
  for (let maxMs = 300; bytes.length === 0; maxMs *= 2)
    await expect(transfer(maxMs)).rejects.toThrow(`timed out after ${maxMs / 1000} seconds`);
  for (const socket of open) await closed(socket);
});

it('a transfer is aborted immediately by its signal, even before it starts', async () => {
  const { server, open } = await serving(() => abort.abort());
  const abort = new AbortController();
  const { signal } = abort;
  await expect(serialOf('example.test', server, { signal })).rejects.toThrow('aborted');
  await expect(serialOf('example.test', server, { signal })).rejects.toThrow('aborted');
  for (const socket of open) await closed(socket);
});
