import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { clientAddressReader } from '../addresses/index.ts';
import { createListener } from './listener.ts';

const REQUEST_TIMEOUT_MS = 500;
const BYTE_EVERY_MS = 50;

describe('the listener', () => {
  const listener = createListener(
    { requestTimeoutMs: REQUEST_TIMEOUT_MS },
    { logger: pino({ level: 'silent' }), sendBadUrl: (reply) => reply, readers: anyReaders() },
  );
  listener.post('/', (_request, reply) => reply.send({}));
  afterAll(() => listener.close());

  it.each([
    { what: 'invalid JSON', type: 'application/json', body: '{' },
    { what: 'a content type without parser', type: 'text/xml', body: '<a/>' },
    { what: 'more than 1 MiB', type: 'application/json', body: ' '.repeat(1_048_577) },
  ])('answers 404 with the paths it serves to a body of $what', async ({ type, body }) => {
    const headers = { host: 'x', 'content-type': type };
    const response = await listener.inject({ method: 'POST', url: '/unknown', headers, body });
    expect([response.statusCode, response.json().error]).toEqual([
      404,
      expect.stringMatching(/^no route for POST \/unknown;/),
    ]);
  });

  it('answers 429 to a client that does not read its responses, also for an unknown path', async () => {
    const readers = anyReaders();
    vi.spyOn(readers, 'exceeded').mockReturnValue('perClient');
    const full = createListener({}, { logger: pino({ level: 'silent' }), readers });
    expect((await full.inject({ url: '/unknown', headers: { host: 'x' } })).statusCode).toBe(429);
    await full.close();
  });

  it('answers 408 to clients that send head or body too slowly, and closes their connections', async () => {
    await listener.listen({ host: '127.0.0.1', port: 0 });
    const { port } = listener.server.address() as AddressInfo; // it listens on TCP
    const starts = [
      'POST / HTTP/1.1\r\nx: ',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n',
    ];
    const answers = await Promise.all(
      starts.map(async (start) => {
        const socket = connect(port, '127.0.0.1');
        let text = '';
        socket.on('error', () => undefined); // a byte may meet a connection that was just closed
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.write(start);
        const timer = setInterval(() => socket.write('1'), BYTE_EVERY_MS);
        await once(socket, 'close');
        clearInterval(timer);
        return text;
      }),
    );
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });
});

it('a request that arrives while the server stops is answered as usual, and its connection is closed', async () => {
  const listener = createListener(
    {},
    { logger: pino({ level: 'silent' }), sendBadUrl: (reply) => reply, readers: anyReaders() },
  );
  listener.get('/', (_request, reply) => reply.send({ result: 1 }));
  await listener.listen({ host: '127.0.0.1', port: 0 });
  const { port } = listener.server.address() as AddressInfo; // it listens on TCP
  const accepted = once(listener.server, 'connection');
  const socket = connect(port, '127.0.0.1');
  const [served] = await accepted;
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  const closed = once(socket, 'close');
  const begun = once(served, 'data');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n');
  await begun;
  const stopped = listener.close();
  socket.write('\r\n');
  await closed;
  await stopped;
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer.toLowerCase()).toContain('\r\nconnection: close\r\n');
  expect(answer).toContain('{"result":1}');
});

it('a client cannot hide the X-Forwarded-For of a proxy behind thousands of headers', async () => {
  const listener = createListener({}, { logger: pino({ level: 'silent' }), readers: anyReaders() });
  const addressOf = clientAddressReader(['127.0.0.1']);
  listener.get('/', (request, reply) => reply.send(addressOf(request.raw)));
  await listener.listen({ host: '127.0.0.1', port: 0 });
  const { port } = listener.server.address() as AddressInfo; // it listens on TCP
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  const many = 'a:\r\n'.repeat(5000);
  socket.write(`GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${many}x-forwarded-for: 192.0.2.1\r\n\r\n`);
  await once(socket, 'close');
  await listener.close();
  expect(answer).toMatch(/\r\n\r\n192\.0\.2\.1$/);
});
