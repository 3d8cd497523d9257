import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { anyReaders } from '../../../../test/support/anyReaders.ts';
import { HANG_MS } from '../../../../test/support/hang.ts';
import { until } from '../../../../test/support/until.ts';
import { serveInOrder } from '../serveInOrder.ts';
import { TrackedResponse } from '../unsent/trackedResponse.ts';

const CONNECTIONS = 16;
const AHEAD = 90;
const ROUNDS = 12;

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that hands its requests on in order, and a client's connection to it. */
async function serve(answer: Answer, options: ServerOptions = {}) {
  const server = createServer(
    { ServerResponse: TrackedResponse as unknown as typeof ServerResponse, ...options }, // its types know only node's own
    answer,
  );
  anyReaders().watch(server);
  serveInOrder(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return async function open(): Promise<Client> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    closing.push(() => socket.destroy());
    await once(socket, 'connect');
    return clientOf(socket);
  };
}

interface Client {
  readonly socket: Socket;
  /** Status and body of what was answered so far. */
  readonly answers: () => string[];
}

function clientOf(socket: Socket): Client {
  let text = '';
  socket.setEncoding('latin1').on('data', (more) => {
    text += more;
  });
  socket.on('error', () => undefined); // a cut is what some of these tests are about
  return {
    socket,
    answers: () =>
      [...text.matchAll(/HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n(.*?)(?=HTTP\/1\.1|$)/g)].map(
        ([, status, body]) => `${status} ${body}`,
      ),
  };
}

const post = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** Answers a request with the body that it has, and the status in its path. */
const echo: Answer = (request, response) => {
  const status = Number(request.url?.slice(1));
  let body = '';
  const answer = (): void => {
    response.writeHead(status, { 'content-length': body.length, date: 'now' }).end(body);
  };
  if (request.complete) {
    body = String(request.read() ?? '');
    return answer();
  }
  request.setEncoding('latin1').on('data', (text) => {
    body += text;
  });
  request.on('end', answer);
};

/** Waits as `until` does, in turns of the event loop: the timers of this file are at rest. */
async function turnsUntil(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + HANG_MS;
  while (!isSo() && performance.now() < endMs) await new Promise((resolve) => setImmediate(resolve));
  expect(isSo()).toBe(true);
}

describe('requests', () => {
  it('of others are answered amid a burst of refusals that was sent ahead', async () => {
    let refused = 0;
    let refusedBefore: number | undefined;
    const open = await serve((request, response) => {
      if (request.url === '/403') refused++;
      else refusedBefore = refused;
      echo(request, response);
    });
    const other = await open();
    const flooding = await Promise.all(Array.from({ length: CONNECTIONS }, open));
    // Once each was answered the server knows them all: the burst comes in one turn of its event loop.
    for (const { socket } of flooding) socket.write(post('/403', 'x'));
    await until('each is refused once', () => flooding.every(({ answers }) => answers().length === 1));
    refused = 0;
    for (const { socket } of flooding) socket.write(post('/403', 'x').repeat(AHEAD));
    flooding[0]?.socket.once('data', () => other.socket.write(post('/200', 'y')));
    await until('all are answered', () => flooding.every(({ answers }) => answers().length === 1 + AHEAD));
    expect(other.answers()).toEqual(['200 y']);
    expect(refusedBefore).toBeLessThan((CONNECTIONS * AHEAD) / 2);
  });

  it('of one connection are handled one after the other', async () => {
    const begun: string[] = [];
    const finish: Array<() => void> = [];
    const open = await serve((request, response) => {
      begun.push(request.url ?? '');
      finish.push(() => response.end());
    });
    const { socket, answers } = await open();
    socket.write(post('/1', 'a') + post('/2', 'b') + post('/3', 'c'));
    for (const expected of [['/1'], ['/1', '/2'], ['/1', '/2', '/3']]) {
      await until('the next has begun', () => begun.length === expected.length);
      // Whatever else it would do, it has had a turn for.
      await new Promise((resolve) => setImmediate(resolve));
      expect(begun).toEqual(expected);
      finish[expected.length - 1]?.();
    }
    await until('all are answered', () => answers().length === 3);
  });

  it.each([
    ['at once', Number.POSITIVE_INFINITY],
    ['cut anywhere', 7],
    ['cut in larger pieces', 5_000],
  ])('keep their bodies, whether refused before or not, sent %s', async (_name, pieceBytes) => {
    const open = await serve(echo);
    const { socket, answers } = await open();
    const bodies = [10, 70_000, 0, 1, 600, 4_096, 4_097, 20_000, 3].map((length, i) =>
      String(i).repeat(length),
    );
    const statuses = [200, 403, 200, 404, 403, 200, 403, 403, 200];
    const bytes = bodies.map((body, i) => post(`/${statuses[i]}`, body)).join('');
    const pieces = Math.min(bytes.length, pieceBytes);
    for (let at = 0; at < bytes.length; at += pieces) {
      const isLast = socket.write(bytes.slice(at, at + pieces));
      if (!isLast) await once(socket, 'drain');
    }
    await until(
      'all are answered',
      () => answers().length === bodies.length && answers().at(-1) === `200 ${bodies.at(-1)}`,
    );
    expect(answers()).toEqual(bodies.map((body, i) => `${statuses[i]} ${body}`));
  });

  it.each([
    ['before it is read', 1024],
    ['before it is read', 64 * 1024],
    ['amid reading it', 1024],
    ['amid reading it', 64 * 1024],
  ])(
    'are answered behind one that was refused before its body had come, %s, %i bytes ahead',
    async (when, highWaterMark) => {
      const open = await serve(
        (request, response) => {
          const answer = (): void => {
            request.off('data', answer);
            response.writeHead(403).end();
          };
          if (request.method === 'GET') response.end('next');
          else if (when === 'before it is read') answer();
          else request.on('data', answer);
        },
        { highWaterMark },
      );
      for (let round = 0; round < ROUNDS; round++) {
        const { socket, answers } = await open();
        const pieceBytes = 10 ** (3 + (round % 3));
        socket.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${4 * pieceBytes}\r\n\r\n`);
        for (let i = 0; i < 4; i++) {
          socket.write('x'.repeat(pieceBytes));
          if (round % 2 === 0) await until('it is refused', () => answers().length === 1);
        }
        socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
        await until('the next is answered', () => answers().length === 2);
        socket.destroy();
      }
    },
  );

  it('like one that was refused for its body are refused without being handled, until one is not', async () => {
    const handled: string[] = [];
    const open = await serve((request, response) => {
      echo(request, response);
      handled.push(request.url ?? '');
      if (request.url !== '/403') return;
      (response as TrackedResponse).refusesAlike = (body) =>
        String(body) === 'x' ? { status: 403, headers: ['a', 'b'], body: 'alike' } : undefined;
    });
    const { socket, answers } = await open();
    for (let i = 1; i <= 3; i++) {
      socket.write(post('/403', 'x'));
      await until('it is answered', () => answers().length === i);
    }
    expect(answers()).toEqual(['403 x', '403 x', '403 alike']);
    socket.write(post('/403', 'x').repeat(100) + post('/403', 'y') + post('/200', 'z') + post('/403', 'x'));
    await until('all are answered', () => answers().length === 106);
    expect(answers().slice(3)).toEqual([...Array(100).fill('403 alike'), '403 y', '200 z', '403 x']);
    expect(handled).toEqual(['/403', '/403', '/403', '/200', '/403']);
  });

  it('whose head only ends as a refused one does are parsed', async () => {
    const refused: string[] = [];
    const open = await serve((request, response) => {
      echo(request, response);
      (response as TrackedResponse).refusesAlike = (body) => {
        refused.push(String(body));
        return { status: 403, headers: [], body: 'alike' };
      };
    });
    const { socket, answers } = await open();
    socket.write(post('/403', 'x'));
    await until('it is answered', () => answers().length === 1);
    // What is parsed as one head comes in two pieces, the second of which would be a request by itself.
    for (let i = 2; i <= 4; i++) {
      socket.write('POST /403 HTTP/1.1\r\nx-y: ');
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(post('/403', 'y'));
      await until('it is answered', () => answers().length === i);
    }
    expect(answers()).toEqual(['403 x', '403 y', '403 y', '403 y']);
    expect(refused).toEqual([]);
  });

  it('behind nothing but refusals are read after a rest, all that has come as one', async () => {
    const open = await serve(echo);
    const [{ socket, answers }, other] = [await open(), await open()];
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      socket.write(post('/403', 'a').repeat(16));
      await turnsUntil(() => answers().length === 16);
      for (const body of ['b', 'c', 'd']) {
        socket.write(post('/403', body));
        other.socket.write(post('/200', body));
        await turnsUntil(() => other.answers().at(-1) === `200 ${body}`);
      }
      expect(answers()).toHaveLength(16);
      vi.runAllTimers();
      await turnsUntil(() => answers().length === 19);
      socket.write(post('/200', 'e'));
      await turnsUntil(() => vi.getTimerCount() === 1);
      vi.runAllTimers();
      await turnsUntil(() => answers().at(-1) === '200 e');
      // Behind what was not refused there is no rest.
      socket.write(post('/403', 'f'));
      await turnsUntil(() => answers().length === 21);
      expect(vi.getTimerCount()).toBe(0);
      socket.end(post('/403', 'g').repeat(40));
      await turnsUntil(() => socket.readableEnded);
      expect(answers().slice(16)).toEqual([
        '403 b',
        '403 c',
        '403 d',
        '200 e',
        '403 f',
        ...Array(40).fill('403 g'),
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('that were sent ahead before the client ended its side are all answered', async () => {
    const open = await serve(echo);
    const { socket, answers } = await open();
    socket.end(post('/403', 'a').repeat(50));
    await once(socket, 'close');
    expect(answers()).toEqual(Array.from({ length: 50 }, () => '403 a'));
  });

  it('of a client that reads nothing wait as bytes, and go with its connection', async () => {
    let handled = 0;
    const open = await serve((_request, response) => {
      handled++;
      response.writeHead(403).end('x'.repeat(1024 * 1024));
    });
    const { socket } = await open();
    socket.pause();
    socket.write(post('/', 'a').repeat(10_000));
    await until('some are handled', () => handled > 2);
    socket.resetAndDestroy();
    const other = await open();
    other.socket.write(post('/', 'b'));
    await until('another is answered', () => other.answers().length === 1);
    expect(handled).toBeLessThan(100);
  });
});
