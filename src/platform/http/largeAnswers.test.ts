import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { Random } from '../../../test/support/random.ts';
import { sizeInSearch } from '../../../test/support/search.ts';
import { until } from '../../../test/support/until.ts';
import { HTTP_CLASSES } from './httpClasses.ts';
import { serveInOrder } from './serveInOrder.ts';

const SEED = Number(process.env['FLOODGATE_TEST_SEED'] ?? 41);
const CLIENTS = sizeInSearch(60, { ordinary: 20 });
const REQUESTS = 12;
const LARGE = Buffer.alloc(3 * 1024 * 1024, 'x');
const BODY_BYTES = [10, 2_000, 17_000, 40_000, 90_000] as const;

/** Responds with the status and body length in the path, before or after the request body arrived. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const [, status, bytes, when] = (request.url ?? '').split('/');
  const send = (): void => {
    response.writeHead(Number(status), { 'content-length': Number(bytes) });
    response.end(LARGE.subarray(0, Number(bytes)));
  };
  request.resume();
  if (when === 'atOnce') send();
  else request.on('end', send);
}

describe('a connection whose client reads large answers slowly', () => {
  const server = createServer(HTTP_CLASSES, answer);
  beforeAll(async () => {
    anyReaders().watch(server);
    serveInOrder(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it(`gets all responses if requests are rejected, pipelined or both (seed ${SEED})`, async () => {
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const clients = Array.from({ length: CLIENTS }, (_, n) => {
      const random = new Random(SEED + n);
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const reported: string[] = [];
      let [sent, answered, left, head] = [0, 0, 0, ''];
      const ask = (): void => {
        const isRejected = random.chance(0.5);
        const bytes = random.chance(isRejected ? 0.1 : 0.7) ? 1 + random.below(LARGE.length) : 20;
        const path = `/${isRejected ? 429 : 200}/${bytes}/${random.chance(0.5) ? 'atOnce' : 'after'}`;
        const body = 'b'.repeat(random.pick(BODY_BYTES));
        reported.push(`${path} ${body.length}`);
        sent++;
        socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      };
      const goOn = (): void => {
        while (sent < REQUESTS && (sent === answered || random.chance(0.3))) ask();
      };
      socket.on('connect', goOn);
      socket.on('error', (error) => reported.push(String(error)));
      socket.on('data', (data) => {
        for (let at = 0; at < data.length; ) {
          if (left === 0) {
            const end = data.indexOf('\r\n\r\n', at, 'latin1');
            head += data.toString('latin1', at, end < 0 ? data.length : end + 4);
            at = end < 0 ? data.length : end + 4;
            if (end < 0) continue;
            left = Number(/content-length: (\d+)/i.exec(head)?.[1]);
            head = '';
          }
          const taken = Math.min(left, data.length - at);
          left -= taken;
          at += taken;
          if (left === 0 && taken > 0) answered++;
        }
        goOn();
      });
      return { socket, reported, answered: () => answered };
    });
    const waiting = () => clients.filter(({ answered }) => answered() < REQUESTS);
    await until('all are answered', () => waiting().length === 0).catch((error: unknown) => {
      const [first] = waiting();
      throw new Error(
        `${waiting().length} clients wait, the first after ${first?.answered()} responses: ${first?.reported.join(', ')}`,
        {
          cause: error,
        },
      );
    });
    expect(clients.map(({ answered }) => answered())).toEqual(Array(CLIENTS).fill(REQUESTS));
    for (const { socket } of clients) socket.destroy();
  });
});
