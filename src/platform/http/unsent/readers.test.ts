import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { sentBytesOf } from './pace.ts';
import { Readers } from './readers.ts';
import { TrackedResponse } from './trackedResponse.ts';

const MEGABYTE = 1024 * 1024;
/** The system buffers some megabytes of an answer. */
const LARGE_BYTES = 20 * MEGABYTE;

type Answer = (request: IncomingMessage, response: TrackedResponse, readers: Readers) => void;

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
  vi.useRealTimers();
});

/** Stops the clock of the sweeps, for servers that are started later. */
const stopClock = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
/** Lets enough time pass for clients that do not read to be slow. */
const passSeconds = (seconds: number) => vi.advanceTimersByTime(1_000 * seconds);

/** A server whose connections are watched. `/N` requests N megabytes, which are charged. */
async function serve(limits: { maxBytes: number; sendTimeoutMs?: number; path?: string }, answer: Answer) {
  const metrics = new Registry();
  const lines: object[] = [];
  const readers = new Readers({
    sendTimeoutMs: 30_000,
    ...limits,
    clientAddress: ({ socket, headers }) => String(headers['x-client'] ?? socket.remoteAddress),
    metrics,
    log: { warn: (fields) => lines.push(fields) },
  });
  const options = { ServerResponse: TrackedResponse as unknown as typeof ServerResponse }; // its types know only node's own
  const server = createServer(options, (request, response) =>
    answer(request, response as unknown as TrackedResponse, readers),
  );
  readers.watch(server);
  await new Promise<void>((resolve) =>
    limits.path === undefined ? server.listen(0, '127.0.0.1', resolve) : server.listen(limits.path, resolve),
  );
  const open = async (path: string, client = 'a'): Promise<Socket> => {
    const socket =
      limits.path === undefined
        ? connect((server.address() as AddressInfo).port, '127.0.0.1') // it listens on TCP
        : connect(limits.path);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-client: ${client}\r\n\r\n`);
    closing.push(() => socket.destroy());
    return socket;
  };
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const cuts = async (reason: string): Promise<number> => {
    const { values } = (await metrics.getSingleMetric('floodgate_http_connections_closed_total')?.get()) ?? {
      values: [],
    };
    return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
  };
  return { readers, open, cuts, lines };
}

/** Answers with the megabytes of the path if there is room, else with 429. */
const megabytes: Answer = ({ url }, response) => {
  const bytes = Buffer.alloc(Number(url?.slice(1)) * MEGABYTE);
  if (!response.charge(bytes.length)) response.writeHead(429);
  response.end(response.statusCode === 429 ? '' : bytes);
};

const statusOf = async (socket: Socket): Promise<string> =>
  String((await once(socket, 'data'))[0]).slice(9, 12);

describe('readers', () => {
  it('that read nothing are closed above half of the memory, the largest first', async () => {
    stopClock();
    const { readers, open, cuts, lines } = await serve({ maxBytes: 60 * MEGABYTE }, megabytes);
    for (const [i, size] of [12, 16, 14].entries()) await open(`/${size}`, `client ${i}`);
    await until('all are charged', () => readers.budget.total === 42 * MEGABYTE);
    passSeconds(3);
    expect(await cuts('memory')).toBe(1);
    expect(readers.budget.total).toBe(26 * MEGABYTE);
    expect(lines).toEqual([expect.objectContaining({ reason: 'memory', bytes: 16 * MEGABYTE })]);
    const other = await open('/30', 'other');
    expect(await statusOf(other)).toBe('200');
  });

  it('of one client are closed above half of its memory, and no others', async () => {
    stopClock();
    const { readers, open, cuts } = await serve({ maxBytes: 100 * MEGABYTE }, megabytes);
    for (const size of [10, 16]) await open(`/${size}`);
    await open('/20', 'other');
    await until('all are charged', () => readers.budget.total === 46 * MEGABYTE);
    passSeconds(3);
    expect(await cuts('memory')).toBe(1);
    expect(readers.budget.total).toBe(30 * MEGABYTE);
    expect(readers.budget.usedBy({ address: 'other' })).toBe(20 * MEGABYTE);
  });

  it('that read are not closed for others', async () => {
    const { readers, open, cuts } = await serve({ maxBytes: 60 * MEGABYTE }, megabytes);
    const reading = await open('/50');
    await until('it is charged', () => readers.budget.total === 50 * MEGABYTE);
    let received = 0;
    reading.on('data', ({ length }) => {
      received += length;
    });
    await until('it has all', async () => {
      // Too large to be admitted.
      const other = await open('/20', 'other');
      await statusOf(other);
      other.destroy();
      return received > 50 * MEGABYTE;
    });
    expect(await cuts('memory')).toBe(0);
  });

  it('that read nothing are closed one by one when another resource is exhausted, the largest first', async () => {
    stopClock();
    const { readers, open, cuts } = await serve({ maxBytes: 200 * MEGABYTE }, megabytes);
    for (const [i, size] of [12, 16, 14].entries()) await open(`/${size}`, `client ${i}`);
    await until('all are charged', () => readers.budget.total === 42 * MEGABYTE);
    passSeconds(3);
    expect(await cuts('requests')).toBe(0);
    readers.freeConnection();
    passSeconds(3);
    expect([await cuts('requests'), readers.budget.total]).toEqual([1, 26 * MEGABYTE]);
  });

  it('that read nothing for the send timeout are closed, and their memory is free', async () => {
    stopClock();
    const limits = { maxBytes: 900 * MEGABYTE, sendTimeoutMs: 10_000 };
    const { readers, open, cuts } = await serve(limits, megabytes);
    for (let i = 0; i < 3; i++) await open('/20');
    await until('all are charged', () => readers.budget.total === 60 * MEGABYTE);
    passSeconds(10);
    expect(await cuts('timeout')).toBe(0);
    passSeconds(1);
    expect(await cuts('timeout')).toBe(3);
    expect(readers.budget.total).toBe(0);
  });

  it('at a Unix socket are closed too', async () => {
    const path = join(tmpdir(), `readers-${process.pid}.sock`);
    const limits = { maxBytes: 90 * MEGABYTE, sendTimeoutMs: 1_000, path };
    const { readers, open, cuts } = await serve(limits, megabytes);
    await open('/20');
    await until('it is closed', async () => (await cuts('timeout')) === 1);
    expect(readers.budget.total).toBe(0);
  });

  it('are admitted until their client holds half of the memory', async () => {
    const { readers, open } = await serve({ maxBytes: 30 * MEGABYTE }, (request, response, all) => {
      if (all.exceeded(request) === 'perClient') response.writeHead(429).end();
      else megabytes(request, response, all);
    });
    await open('/20');
    await until('it is charged', () => readers.budget.total === 20 * MEGABYTE);
    expect(await statusOf(await open('/0'))).toBe('429');
    expect(await statusOf(await open('/0', 'other'))).toBe('200');
  });

  it('are refused for a moment after a response for which no memory was free', async () => {
    stopClock();
    const exceeded: unknown[] = [];
    const { readers, open } = await serve({ maxBytes: 60 * MEGABYTE }, (request, response, all) => {
      exceeded.push(all.exceeded(request));
      megabytes(request, response, all);
    });
    await open('/20');
    await until('it is charged', () => readers.budget.total === 20 * MEGABYTE);
    for (const size of [1, 20, 1]) await statusOf(await open(`/${size}`));
    await statusOf(await open('/1', 'other'));
    passSeconds(1);
    await statusOf(await open('/1'));
    expect(exceeded).toEqual([undefined, undefined, undefined, 'perClient', undefined, undefined]);
  });

  it('are charged for what is written without a charge, and closed at once if there is no room for it', async () => {
    stopClock();
    const { readers, open, cuts } = await serve({ maxBytes: 30 * MEGABYTE }, (_request, response) => {
      response.end('x'.repeat(LARGE_BYTES));
    });
    for (let i = 0; i < 3; i++) await open('/', `client ${i}`);
    await until('all but the first are closed', async () => (await cuts('memory')) === 2);
    expect(readers.budget.total).toBeGreaterThan(0);
    expect(readers.budget.total).toBeLessThan(LARGE_BYTES);
  });

  it('are charged for what is written without a charge before the next sweep', async () => {
    stopClock();
    const { readers, open } = await serve({ maxBytes: 900 * MEGABYTE }, (_request, response) => {
      response.end('x'.repeat(LARGE_BYTES));
    });
    await open('/');
    await until('the unsent bytes are charged', () => readers.budget.total > 0);
  });

  it('without a connection hold no memory, and their response is over', async () => {
    let over = 0;
    const { readers, open } = await serve({ maxBytes: 900 * MEGABYTE }, (request, response, all) => {
      response.onFinished(() => over++);
      megabytes(request, response, all);
    });
    const socket = await open('/40');
    await until('it is charged', () => readers.budget.total === 40 * MEGABYTE);
    socket.destroy();
    await until('it is over', () => over === 1);
    expect(readers.budget.total).toBe(0);
  });
});

it('sent bytes grow while a single write is under way', async () => {
  const sent: number[] = [];
  const server = createServer((_request, response) => {
    response.end(Buffer.alloc(50 * MEGABYTE));
    const look = setInterval(() => sent.push(sentBytesOf(response.req.socket)), 5);
    response.on('close', () => clearInterval(look));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  socket.on('data', () => {
    socket.pause();
    setTimeout(() => socket.resume(), 1);
  });
  await once(socket, 'close');
  expect(new Set(sent.filter((bytes) => bytes > 0 && bytes < 50 * MEGABYTE)).size).toBeGreaterThan(3);
  expect(sent).toEqual([...sent].sort((a, b) => a - b));
});
