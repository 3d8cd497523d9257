import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { until } from '../../../test/support/until.ts';
import { HTTP_CLASSES } from './httpClasses.ts';
import { serveInOrder } from './serveInOrder.ts';
import { TrackedResponse } from './unsent/trackedResponse.ts';

const CONNECTIONS = 16;
const AHEAD = 90;
const ROUNDS = 12;
const MAX_WAITING = 16;
const MAX_REJECTED = 32;
const LARGE_BYTES = 1024 * 1024;
/** Maximum size of a socket read. */
const READ_BYTES = 64 * 1024;

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server that answers in order. Returns a function that opens a client connection. */
async function serve(answer: Answer, options: ServerOptions = {}) {
  const server = createServer({ ...HTTP_CLASSES, ...options }, answer);
  anyReaders().watch(server);
  serveInOrder(server, { clientOf: ({ headers }) => ({ address: String(headers['x-client']) }) });
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
  /** Status and body of each response so far. */
  readonly answers: () => string[];
  /** Resolves when the connection is closed. */
  readonly closed: Promise<unknown>;
  /** All received bytes. */
  readonly text: () => string;
}

function clientOf(socket: Socket): Client {
  let text = '';
  socket.setEncoding('latin1').on('data', (more) => {
    text += more;
  });
  socket.on('error', () => undefined); // the server closes some connections
  return {
    socket,
    text: () => text,
    closed: new Promise((resolve) => socket.once('close', resolve)),
    answers: () =>
      [...text.matchAll(/HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n(.*?)(?=HTTP\/1\.1|$)/g)].map(
        ([, status, body]) => `${status} ${body}`,
      ),
  };
}

const post = (path: string, body: string, client = 'a'): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nx-client: ${client}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** Responds with the request body and the status in the path. */
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

/**
 * Completes a request of another client, so that the server, which runs in this process, has processed earlier data.
 */
async function roundTrip(open: () => Promise<Client>): Promise<void> {
  const { socket, answers } = await open();
  socket.write(post('/204', ''));
  await until('another client is answered', () => answers().length === 1);
}

describe('requests', () => {
  it('of other clients are answered during pipelined bursts', async () => {
    let ofBursts = 0;
    let before: number | undefined;
    const open = await serve((request, response) => {
      if (request.url === '/404') ofBursts++;
      else before = ofBursts;
      echo(request, response);
    });
    const other = await open();
    const bursts = await Promise.all(Array.from({ length: CONNECTIONS }, open));
    // After one response each, the server has accepted all connections and reads the bursts in one tick.
    for (const { socket } of bursts) socket.write(post('/404', 'x'));
    await until('each is answered once', () => bursts.every(({ answers }) => answers().length === 1));
    ofBursts = 0;
    for (const { socket } of bursts) socket.write(post('/404', 'x').repeat(AHEAD));
    bursts[0]?.socket.once('data', () => other.socket.write(post('/200', 'y')));
    await until('all are answered', () => bursts.every(({ answers }) => answers().length === 1 + AHEAD));
    expect(other.answers()).toEqual(['200 y']);
    expect(before).toBeLessThan((CONNECTIONS * AHEAD) / 2);
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
      await until('the next is being handled', () => begun.length === expected.length);
      await new Promise((resolve) => setImmediate(resolve));
      expect(begun).toEqual(expected);
      finish[expected.length - 1]?.();
    }
    await until('all are answered', () => answers().length === 3);
  });

  it('are not read while 16 wait for an answer, and all are answered', async () => {
    let parsed = 0;
    const held: ServerResponse[] = [];
    class CountingResponse extends TrackedResponse {
      constructor(...args: ConstructorParameters<typeof ServerResponse>) {
        super(...args);
        parsed++;
      }
    }
    let isHeld = true;
    const open = await serve(
      (request, response) => {
        if (request.url === '/204') return echo(request, response);
        request.resume();
        if (isHeld) held.push(response);
        else response.end();
      },
      { ServerResponse: CountingResponse as unknown as typeof ServerResponse }, // its types know only node's class
    );
    const { socket, answers } = await open();
    const request = post('/', 'x'.repeat(10_000));
    const count = 1_000;
    for (let i = 0; i < count; i++) socket.write(request);
    await until('the first is handled', () => held.length === 1);
    // The server runs in this process: after a round trip of another client it has read all it wants from the first.
    await roundTrip(open);
    await roundTrip(open);
    const ofOthers = 2;
    expect(held).toHaveLength(1);
    expect(parsed - ofOthers).toBeLessThanOrEqual(1 + MAX_WAITING + READ_BYTES / request.length);
    isHeld = false;
    held[0]?.end();
    await until('all are answered', () => answers().length === count);
  });

  it.each([
    ['at once', Number.POSITIVE_INFINITY],
    ['cut anywhere', 7],
    ['cut in larger pieces', 5_000],
  ])('keep their bodies, sent %s', async (_name, pieceBytes) => {
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
    ['while it is read', 1024],
    ['while it is read', 64 * 1024],
  ])(
    'are answered after one that was rejected before its body arrived, %s, with a highWaterMark of %i',
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
          if (round % 2 === 0) await until('it is rejected', () => answers().length === 1);
        }
        socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
        await until('the next is answered', () => answers().length === 2);
        socket.destroy();
      }
    },
  );

  it('pipelined before the client ended its side are all answered', async () => {
    const open = await serve(echo);
    const { socket, answers, closed } = await open();
    socket.end(post('/404', 'a').repeat(50));
    await closed;
    expect(answers()).toEqual(Array.from({ length: 50 }, () => '404 a'));
  });

  it('of a client that ended its side before the response are answered', async () => {
    let isEnded = false;
    const open = await serve((request, response) => {
      request.socket.once('end', () => {
        isEnded = true;
        response.end('late');
      });
    });
    const { socket, answers, closed } = await open();
    socket.end(post('/', 'a'));
    await closed;
    expect(isEnded).toBe(true);
    expect(answers()).toEqual(['200 late']);
  });

  it.each([
    ['without Host', ''],
    ['with two Host headers', 'host: x\r\nHOST: x\r\n'],
    ['with two Host headers, one of them empty', 'Host:\r\nhost: x\r\n'],
  ])('%s are rejected with 400', async (_name, headers) => {
    const open = await serve(echo);
    const { socket, answers, closed } = await open();
    socket.write(`GET /200 HTTP/1.1\r\n${headers}\r\n`);
    await closed;
    expect(answers()).toEqual([expect.stringMatching(/^400 /)]);
  });

  it('of a client that reads nothing are dropped when its connection closes', async () => {
    let handled = 0;
    const open = await serve((_request, response) => {
      handled++;
      response.writeHead(404).end('x'.repeat(LARGE_BYTES));
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

  it('after a response with Connection: close are not processed', async () => {
    const handled: string[] = [];
    const open = await serve((request, response) => {
      handled.push(request.url ?? '');
      response.writeHead(200, { connection: 'close' }).end();
    });
    const { socket, closed } = await open();
    socket.write(post('/1', 'a') + post('/2', 'b') + post('/3', 'c'.repeat(1_000)));
    await closed;
    expect(handled).toEqual(['/1']);
  });

  it('with Expect: 100-continue receive 100 and then their response', async () => {
    const open = await serve(echo);
    const { socket, answers } = await open();
    socket.write('POST /200 HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 3\r\n\r\n');
    await until('the client may continue', () => answers()[0] === '100 ');
    socket.write('abc');
    await until('it is answered', () => answers()[1] === '200 abc');
  });
});

describe('a connection', () => {
  const isClosing = ({ text }: Client): boolean => /\r\nconnection: close\r\n/i.test(text());

  it.each([
    ['one by one', 1],
    ['pipelined', 50],
  ])('closes with the response after 32 rejected requests, sent %s', async (_name, ahead) => {
    const open = await serve(echo);
    const client = await open();
    const statuses = [400, 401, 403];
    let sent = 0;
    const isSent = (): boolean => {
      if (client.answers().length === sent && !client.socket.destroyed)
        for (let i = 0; i < ahead; i++) client.socket.write(post(`/${statuses[sent++ % 3]}`, 'x'));
      return client.socket.destroyed;
    };
    await until('the connection is closed', isSent);
    expect(client.answers()).toHaveLength(MAX_REJECTED + 1);
    expect(client.text().split(/\r\nconnection: close\r\n/i)).toHaveLength(2);
  });

  it('stays open for another client of a proxy after 32 rejected requests', async () => {
    const open = await serve(echo);
    const client = await open();
    client.socket.write(post('/403', 'x').repeat(MAX_REJECTED) + post('/403', 'x', 'b') + post('/403', 'x'));
    await until('all are answered', () => client.answers().length === MAX_REJECTED + 2);
    expect(isClosing(client)).toBe(false);
  });

  it('stays open if one request of 32 succeeds', async () => {
    const open = await serve(echo);
    const client = await open();
    const round = post('/403', 'x').repeat(MAX_REJECTED - 1) + post('/204', '');
    client.socket.write(round.repeat(3));
    await until('all are answered', () => client.answers().length === 3 * MAX_REJECTED);
    expect(isClosing(client)).toBe(false);
  });

  it('stays open after 429 and 503, which neither count nor reset', async () => {
    const open = await serve(echo);
    const client = await open();
    client.socket.write((post('/429', 'x') + post('/503', 'x')).repeat(MAX_REJECTED));
    await until('all are answered', () => client.answers().length === 2 * MAX_REJECTED);
    expect(isClosing(client)).toBe(false);
    client.socket.write(post('/403', 'x').repeat(MAX_REJECTED - 1) + post('/429', 'x') + post('/403', 'x'));
    await until('all are answered', () => client.answers().length === 3 * MAX_REJECTED + 1);
    expect(isClosing(client)).toBe(false);
    client.socket.write(post('/200', 'x'));
    await client.closed;
    expect(isClosing(client)).toBe(true);
  });
});
