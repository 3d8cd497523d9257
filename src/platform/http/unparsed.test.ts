import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { createListener } from './listener.ts';
import { serveInOrder } from './serveInOrder.ts';
import { answerUnparsed } from './unparsed.ts';

const REQUEST_TIMEOUT_MS = 500;
const registry = new Registry();
/** Has what waits answered. */
let answerLate = (): void => undefined;
const listener = createListener(
  { requestTimeoutMs: REQUEST_TIMEOUT_MS },
  { logger: pino({ level: 'silent' }), readers: anyReaders(registry) },
);
let port: number;
beforeAll(async () => {
  answerUnparsed(listener.server, (status) => JSON.stringify({ status }));
  listener.get('/', async () => ({}));
  listener.get(
    '/late',
    () =>
      new Promise((resolve) => {
        answerLate = () => resolve({});
      }),
  );
  listener.post('/', async () => ({}));
  await listener.ready();
  serveInOrder(listener.server);
  port = Number(new URL(await listener.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => listener.close());
beforeEach(() => registry.resetMetrics());

/** Sends bytes, then more as answers come, and gives what was answered before the connection was closed. */
async function answerTo(bytes: string, answered: (socket: Socket, text: string) => void = () => undefined) {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('error', () => undefined); // what is written may meet a closed connection
  socket.on('data', (chunk) => {
    text += chunk;
    answered(socket, text);
  });
  const closed = once(socket, 'close');
  socket.write(bytes);
  await closed;
  return text;
}

/** Answers by status, as the metrics tell them now. */
async function counted(): Promise<Record<string, number>> {
  const { values } = (await registry.getSingleMetric('floodgate_http_responses_total')?.get()) ?? {
    values: [],
  };
  const all = values.map(({ labels, value }) => [String(labels['status']), value] as const);
  return Object.fromEntries(all.filter(([, value]) => value > 0));
}

it.each([
  [400, 'a header without a colon', 'GET / HTTP/1.1\r\nhost: x\r\nno header\r\n\r\n'],
  [
    400,
    'a body whose chunks cannot be read',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nx\r\n',
  ],
  [400, 'no host, which HTTP wants', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n'],
  [431, 'too large a header', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}`],
  [408, 'a head that does not end', 'GET / HTTP/1.1\r\nhost: x\r\n'],
  [
    408,
    'a body that does not end',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{',
  ],
])('an answer of %i is counted once: %s', async (status, _name, bytes) => {
  expect(await answerTo(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(await counted()).toEqual({ [status]: 1 });
});

it('bytes that nobody can read are not counted behind an answer, where they get none', async () => {
  const text = await answerTo('GET / HTTP/1.1\r\nhost: x\r\n\r\n', (socket) =>
    socket.write('nothing\r\n\r\n'),
  );
  expect(text).toMatch(/^HTTP\/1.1 200 /);
  expect(await counted()).toEqual({ 200: 1 });
});

it('an answer that comes after the client was told that it cannot be read is not counted', async () => {
  const text = await answerTo('GET /late HTTP/1.1\r\nhost: x\r\n\r\nnothing\r\n\r\n', () => answerLate());
  expect(text).toMatch(/^HTTP\/1.1 400 /);
  expect(await counted()).toEqual({ 400: 1 });
});
