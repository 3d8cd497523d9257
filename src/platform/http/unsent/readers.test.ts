import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { Readers } from './readers.ts';
import { takenBytes } from './takenBytes.ts';
import { TrackedResponse } from './trackedResponse.ts';

const MEGABYTE = 1024 * 1024;
/** Longer than a client may take nothing before it is cut for others, however late each turn of the loop comes. */
const SLOW_TURNS = 10;
const SLOW_TURN_MS = 300;

type Answer = (request: IncomingMessage, response: TrackedResponse, readers: Readers) => void;

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server with watched readers; `/N` asks for N megabytes, with room taken for them. */
async function serve(
  limits: { maxBytes: number; maxBytesPerClient?: number; sendTimeoutMs?: number },
  answer: Answer,
) {
  const metrics = new Registry();
  const lines: object[] = [];
  const readers = new Readers({
    maxBytesPerClient: limits.maxBytes,
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const open = async (path: string, count = 1): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(count));
    closing.push(() => socket.destroy());
    return socket;
  };
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const cuts = async (reason: string): Promise<number> => {
    const { values } = (await metrics.getSingleMetric('floodgate_http_connections_cut_total')?.get()) ?? {
      values: [],
    };
    return values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
  };
  return { readers, open, cuts, lines };
}

/** Answers with as many megabytes as the path says, where there is room; 429 otherwise. */
const megabytes: Answer = ({ url }, response) => {
  const bytes = Buffer.alloc(Number(url?.slice(1)) * MEGABYTE);
  if (!response.hold(bytes)) response.writeHead(429);
  response.end(response.statusCode === 429 ? '' : bytes);
};

const statusOf = async (socket: Socket): Promise<string> =>
  String((await once(socket, 'data'))[0]).slice(9, 12);

describe('readers', () => {
  it('that read nothing are cut where others want their memory, the largest first', async () => {
    const { readers, open, cuts, lines } = await serve({ maxBytes: 60 * MEGABYTE }, megabytes);
    const sizes = [15, 25, 18];
    const sockets: Socket[] = [];
    for (const size of sizes) sockets.push(await open(`/${size}`));
    await until('all are held', () => readers.unsent.bytes >= 58 * MEGABYTE);
    // All of them are slow by then.
    for (let turn = 0; turn < SLOW_TURNS; turn++) await pause(SLOW_TURN_MS);
    const first = await until('there is room', async () => {
      const socket = await open('/10');
      return (await statusOf(socket)) === '200' && socket;
    });
    first.destroy();
    expect(await cuts('memory')).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ cut: { memory: 1 }, last: { heldBytes: 25 * MEGABYTE } });
    expect(readers.unsent.bytes).toBeLessThan(60 * MEGABYTE);
  });

  it('that share memory are not cut, all of them, where one who shares none has as much', async () => {
    const shared = Buffer.alloc(20 * MEGABYTE);
    const { readers, open, cuts } = await serve(
      { maxBytes: 40 * MEGABYTE, maxBytesPerClient: 900 * MEGABYTE },
      (request, response, known) => {
        if (request.url !== '/shared') return megabytes(request, response, known);
        expect(response.hold(shared)).toBe(true);
        response.end(shared);
      },
    );
    // The first to be slow.
    await open('/15');
    await until('it is held', () => readers.unsent.bytes >= 15 * MEGABYTE);
    for (let i = 0; i < 10; i++) await open('/shared');
    await until('all are held', () => readers.unsent.bytes >= 35 * MEGABYTE);
    const other = await until('there is room', async () => {
      const socket = await open('/15');
      return (await statusOf(socket)) === '200' && socket;
    });
    other.destroy();
    expect(await cuts('memory')).toBe(1);
  });

  it('that take what they are sent are not cut for others', async () => {
    const { readers, open, cuts } = await serve({ maxBytes: 60 * MEGABYTE }, megabytes);
    const slow = await open('/50');
    await until('it is held', () => readers.unsent.bytes >= 50 * MEGABYTE);
    let received = 0;
    slow.on('data', ({ length }) => {
      received += length;
    });
    await until('it has all', async () => {
      // Others, too large to be let in, never make it go.
      const other = await open('/20');
      await statusOf(other);
      other.destroy();
      return received > 50 * MEGABYTE;
    });
    expect(await cuts('memory')).toBe(0);
  });

  it('that take nothing for the time to send are cut, and what they held is free', async () => {
    const { readers, open, cuts } = await serve({ maxBytes: 90 * MEGABYTE, sendTimeoutMs: 1_000 }, megabytes);
    for (let i = 0; i < 3; i++) await open('/20');
    await until('all are held', () => readers.unsent.bytes >= 60 * MEGABYTE);
    await until('all are cut', async () => (await cuts('timeout')) === 3);
    expect(readers.unsent.bytes).toBe(0);
  });

  it('have an answer of their own account, and one who holds too much is refused alone', async () => {
    const { readers, open } = await serve(
      { maxBytes: 90 * MEGABYTE, maxBytesPerClient: 10 * MEGABYTE },
      (request, response, known) => {
        if (known.refuses(request)) response.writeHead(429).end();
        else megabytes(request, response, known);
      },
    );
    await open('/20');
    await until('it is held', () => readers.unsent.bytes >= 20 * MEGABYTE);
    expect(await statusOf(await open('/0'))).toBe('429');
    expect(await statusOf(await open('/0 HTTP/1.1\r\nx-client: 192.0.2.1\r\nx:'))).toBe('200');
  });

  it('that ask for many answers ahead hold what is written for them, and those of a closed connection are all over', async () => {
    let over = 0;
    const { readers, open } = await serve({ maxBytes: 900 * MEGABYTE }, (_request, response) => {
      response.whenOver(() => over++);
      response.end(Buffer.alloc(MEGABYTE));
    });
    const socket = await open('/', 50);
    await until('all are written', () => readers.unsent.bytes >= 40 * MEGABYTE);
    socket.destroy();
    await until('all are over', () => over === 50);
    expect(readers.unsent).toMatchObject({ bytes: 0, clients: 0 });
  });

  it('are answered whatever they were sent without room, and go where that is too much', async () => {
    const { readers, open, cuts } = await serve({ maxBytes: 30 * MEGABYTE }, (_request, response) => {
      response.end('x'.repeat(20 * MEGABYTE));
    });
    const sockets = await Promise.all([open('/'), open('/'), open('/')]);
    for (const socket of sockets) socket.pause();
    await until('one is cut', async () => (await cuts('memory')) > 0);
    expect(readers.unsent.bytes).toBeLessThanOrEqual(30 * MEGABYTE);
  });
});

it('bytes are known to be taken while one write of all of them is under way', async () => {
  const taken: number[] = [];
  const server = createServer((_request, response) => {
    response.end(Buffer.alloc(50 * MEGABYTE));
    const look = setInterval(() => taken.push(takenBytes(response.req.socket)), 5);
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
  expect(new Set(taken.filter((bytes) => bytes > 0 && bytes < 50 * MEGABYTE)).size).toBeGreaterThan(3);
  expect(taken).toEqual([...taken].sort((a, b) => a - b));
});
