import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { until } from '../../../../test/support/until.ts';
import { Scheduler } from '../../scheduler/index.ts';
import { UnfinishedMessages } from '../unfinished/unfinishedMessages.ts';
import { Readers, readerOf } from '../unsent/readers.ts';
import { WebSocketConnection } from './webSocketConnection.ts';

const KILOBYTE = 1024;
const MAX_UNSENT_BYTES = 4 * KILOBYTE * KILOBYTE;
/** Most bytes of messages that may be in the socket: the limit, and one message with its header. */
const MAX_SOCKET_BYTES = 66 * KILOBYTE;

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Opens a WebSocket, and returns both of its ends. The client does not read until `resume`. */
async function open() {
  const clientAddress = () => 'a';
  const metrics = new Registry();
  const limits = {
    maxBytes: 64 * KILOBYTE * KILOBYTE,
    clientAddress,
    metrics,
    log: { warn: () => undefined },
  };
  const readers = new Readers({ ...limits, sendTimeoutMs: 30_000 });
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  readers.watch(server);
  const reasons: string[] = [];
  const opened = new Promise<WebSocketConnection>((resolve) =>
    server.on('upgrade', (request, raw, head) =>
      sockets.handleUpgrade(request, raw, head, (socket) => {
        const reader = readerOf(request.socket);
        if (reader === undefined) throw new Error('the server is not watched');
        const dependencies = {
          socket,
          reader,
          request,
          client: { address: 'a' },
          scheduler: new Scheduler(),
          unfinished: new UnfinishedMessages({ ...limits, metrics: new Registry() }),
          closing: (reason: string) => reasons.push(reason),
          closed: () => reasons.push('closed'),
        };
        const handler = { message: () => undefined, closed: () => undefined };
        resolve(new WebSocketConnection(MAX_UNSENT_BYTES, dependencies, () => handler));
      }),
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens on TCP
  const received: string[] = [];
  client.on('message', (message) => received.push(String(message)));
  await once(client, 'open');
  client.pause();
  closing.push(() => {
    client.terminate();
    server.close();
  });
  const connection = await opened;
  return { client, connection, received, reasons, readers, socket: connection.request.socket };
}

/** Sends notifications until the system's buffers are full and `bytes` more wait. Returns their number. */
async function fill({ connection, readers }: Awaited<ReturnType<typeof open>>, bytes: number) {
  let count = 0;
  while (readers.budget.total < bytes) {
    connection.push(`${count++} ${'x'.repeat(KILOBYTE)}`);
    await setImmediate();
  }
  return count;
}

describe('WebSocketConnection', () => {
  it('keeps few messages in the socket, and sends all in order to a client that reads late', async () => {
    const opened = await open();
    const { client, connection, received, readers, socket } = opened;
    const count = await fill(opened, 1_000 * KILOBYTE);
    expect(socket.writableLength).toBeLessThan(MAX_SOCKET_BYTES);
    const answered = connection.answer(Buffer.from('answer'), connection.space());
    connection.push('last');
    client.resume();
    await until('all messages', () => received.length === count + 2);
    expect(received.map((message) => message.split(' ')[0])).toEqual([
      ...Array.from({ length: count }, (_, i) => String(i)),
      'answer',
      'last',
    ]);
    await answered;
    await until('no unsent bytes', () => readers.budget.total === 0);
  });

  it.each(['close', 'closeNow'] as const)(
    '%s discards the messages that wait for the socket',
    async (close) => {
      const opened = await open();
      const { client, connection, received, reasons, readers, socket } = opened;
      const count = await fill(opened, 1_000 * KILOBYTE);
      const answered = connection.answer(Buffer.from('answer'), connection.space());
      connection[close]('slow');
      await answered;
      connection.push('late');
      expect(socket.writableLength).toBeLessThan(MAX_SOCKET_BYTES);
      client.resume();
      await until('the end of the connection', () => reasons.includes('closed'));
      expect(reasons).toEqual(['slow', 'closed']);
      expect(received.length).toBeLessThan(count);
      expect(received.map((message) => message.split(' ')[0])).toEqual(received.map((_, i) => String(i)));
      expect(readers.budget.total).toBe(0);
    },
  );

  it('closes a client that does not read its notifications', async () => {
    const opened = await open();
    await fill(opened, MAX_UNSENT_BYTES - 500 * KILOBYTE);
    for (let i = 0; i < 1_000; i++) opened.connection.push('x'.repeat(KILOBYTE));
    expect(opened.reasons).toEqual(['slow']);
    const code = once(opened.client, 'close');
    opened.client.resume();
    expect(await code).toMatchObject([1008, expect.anything()]);
  });
});
