import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { Random } from '../../../test/support/random.ts';
import { sizeInSearch } from '../../../test/support/search.ts';
import { createListener } from './listener.ts';
import { answerMalformedRequests } from './malformedRequests.ts';
import { serveInOrder } from './serveInOrder.ts';

const REQUEST_TIMEOUT_MS = 500;
const LARGE_BYTES = 300_000;
const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 17);
const RUNS = sizeInSearch(300, { ordinary: 60 });
const registry = new Registry();
/** Sends the pending response. */
let answerLate = (): void => undefined;
const listener = createListener(
  { requestTimeoutMs: REQUEST_TIMEOUT_MS },
  { logger: pino({ level: 'silent' }), readers: anyReaders(registry) },
);
let port: number;
beforeAll(async () => {
  answerMalformedRequests(listener.server, (status) => JSON.stringify({ status }));
  listener.get('/', async () => ({}));
  listener.get(
    '/late',
    () =>
      new Promise((resolve) => {
        answerLate = () => resolve({});
      }),
  );
  listener.get('/soon', () => new Promise((resolve) => setImmediate(resolve, {})));
  listener.get('/large', async () => 'x'.repeat(LARGE_BYTES));
  listener.post('/', async () => ({}));
  await listener.ready();
  serveInOrder(listener.server);
  port = Number(new URL(await listener.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterAll(() => listener.close());
beforeEach(() => registry.resetMetrics());

/** Sends bytes, then more after responses. Returns everything received until the connection closed. */
async function answerTo(
  bytes: string,
  answered: (socket: Socket, text: string) => unknown = () => undefined,
  { later = '', isEnded = false } = {},
) {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('error', () => undefined); // writes may reach a closed connection
  socket.on('data', (chunk) => {
    text += chunk;
    answered(socket, text);
  });
  const closed = once(socket, 'close');
  socket.write(bytes);
  if (isEnded) socket.end();
  if (later !== '') setImmediate(() => socket.write(later));
  await closed;
  return text;
}

/** Returns the number of responses by status, from the metrics. */
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
    'a body with invalid chunks',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nx\r\n',
  ],
  [400, 'a missing Host header', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n'],
  [431, 'a header that is too large', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}`],
  [408, 'an incomplete head', 'GET / HTTP/1.1\r\nhost: x\r\n'],
  [
    408,
    'an incomplete body',
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{',
  ],
])('a response with status %i is counted once: %s', async (status, _name, bytes) => {
  expect(await answerTo(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(await counted()).toEqual({ [status]: 1 });
});

it('unparsable bytes after a response get no response and are not counted', async () => {
  const text = await answerTo('GET / HTTP/1.1\r\nhost: x\r\n\r\n', (socket) =>
    socket.write('nothing\r\n\r\n'),
  );
  expect(text).toMatch(/^HTTP\/1.1 200 /);
  expect(await counted()).toEqual({ 200: 1 });
});

it('unparsable bytes after the response to an unfinished request get no response and are not counted', async () => {
  const head = 'POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n';
  const text = await answerTo(head, (socket) => socket.write('nothing\r\n\r\n'));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  expect(text.endsWith('}')).toBe(true);
  expect(await counted()).toEqual({ 404: 1 });
});

const UNREADABLE = [
  'nothing\r\n\r\n',
  'GET / HTTP/1.1\r\nhost: x\r\nno header\r\n\r\n',
  'GET /late HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nx\r\n',
  `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}`,
] as const;
const WHOLE = [
  [200, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
  [200, 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'],
  [200, 'GET /soon HTTP/1.1\r\nhost: x\r\n\r\n'],
  [200, 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n'],
  [404, 'GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n'],
] as const;

it(`each request before unparsable bytes gets its own response (seed ${SEED})`, async () => {
  const random = new Random(SEED);
  for (let run = 0; run < RUNS; run++) {
    registry.resetMetrics();
    const asked = Array.from({ length: 1 + random.below(6) }, () => random.pick(WHOLE));
    const bytes = asked.map(([, request]) => request).join('') + random.pick(UNREADABLE);
    const at = random.chance(0.5) ? random.below(bytes.length) : bytes.length;
    const isEnded = random.chance(0.3);
    const end = (socket: Socket) => isEnded && socket.end();
    const text = await answerTo(bytes.slice(0, at), end, { later: bytes.slice(at) });
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
    const sent = `run ${run}: ${JSON.stringify([bytes.slice(0, at), bytes.slice(at)])}`;
    expect(statuses, sent).toEqual(asked.map(([status]) => status));
    const large = asked.filter(([, request]) => request.startsWith('GET /large'));
    expect([...text.matchAll(/x+/g)].filter(([body]) => body.length === LARGE_BYTES)).toHaveLength(
      large.length,
    );
    expect(Object.values(await counted()).reduce((sum, count) => sum + count)).toBe(asked.length);
  }
});

it('a response that is finished after the error response is not counted', async () => {
  const head = 'GET /late HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
  const text = await answerTo(`${head}x\r\n`, () => answerLate());
  expect(text).toMatch(/^HTTP\/1.1 400 /);
  expect(await counted()).toEqual({ 400: 1 });
});

it.each([
  ['head', 'POST / HTTP/1.1\r\nho'],
  ['body', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{'],
])('the connection of a client that ended its side within the %s is closed at once', async (_name, bytes) => {
  const text = await answerTo(bytes, () => undefined, { isEnded: true });
  expect(text).toMatch(/^HTTP\/1.1 400 /);
  const second = await answerTo(WHOLE[0][1] + bytes, () => undefined, { isEnded: true });
  expect(second.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});
