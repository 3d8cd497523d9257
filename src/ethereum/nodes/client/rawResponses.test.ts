import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Random } from '../../../../test/support/random.ts';
import { sizeInSearch } from '../../../../test/support/search.ts';
import { NodeClient } from './nodeClient.ts';
import { NodeError } from './nodeError.ts';
import type { ResponseStream } from './responseStream.ts';

const REQUESTS = sizeInSearch(100_000, { ordinary: 1_000 });
const PARALLEL = 20;
const SIZES = [0, 10, 2_000, 70_000, 300_000];
const STATUS_LINES = [
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200 OK',
  'HTTP/1.0 200 OK',
  'HTTP/1.1 100 Continue',
  'HTTP/1.1 101 Switching Protocols',
  'HTTP/1.1 103 Early Hints',
  'HTTP/1.1 204 No Content',
  'HTTP/1.1 302 Found\r\nLocation: /',
  'HTTP/1.1 429 Too Many Requests',
  'HTTP/1.1 500 Internal Server Error',
  'HTTP/2 200',
  'SSH-2.0-server',
];
const HEADERS = [
  '',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Connection: upgrade\r\nUpgrade: websocket\r\n',
  'Keep-Alive: timeout=0\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: -1\r\n',
  'Transfer-Encoding: gzip\r\n',
  `X: ${'y'.repeat(20_000)}\r\n`,
  ': x\r\n',
];

/** Returns a response of random framing, possibly cut or damaged. */
function responseOf(random: Random): Buffer {
  const body = `{"jsonrpc":"2.0","id":1,"result":"0x${'a'.repeat(random.pick(SIZES))}"}`;
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
  const framed = random.pick([
    `Content-Length: ${body.length}\r\n\r\n${body}`,
    `Content-Length: ${body.length + 10}\r\n\r\n${body}`,
    `Content-Length: ${body.length - 10}\r\n\r\n${body}`,
    `Content-Length: ${body.length}\r\n\r\n${body}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}`,
    `Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`,
    `Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\na: b\r\n\r\n`,
    `Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    `Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n${body}`,
    `\r\n${body}`,
  ]);
  const early = random.chance(0.1) ? 'HTTP/1.1 100 Continue\r\n\r\n' : '';
  const whole = Buffer.from(`${early}${random.pick(STATUS_LINES)}\r\n${random.pick(HEADERS)}${framed}`);
  const bytes = random.chance(0.1) ? whole.subarray(0, random.below(whole.length)) : whole;
  if (random.chance(0.1) && bytes.length > 0)
    bytes[random.below(Math.min(bytes.length, 300))] = random.below(256);
  return bytes;
}

/** Sends a response in up to two parts, and may close or reset the connection, or keep it open. */
async function answer(socket: Socket, random: Random): Promise<void> {
  const bytes = responseOf(random);
  const cut = random.below(bytes.length + 1);
  socket.write(bytes.subarray(0, cut));
  if (random.chance(0.5)) await pause(random.below(4));
  if (socket.destroyed) return;
  socket.write(bytes.subarray(cut));
  const end = random.below(4);
  if (end === 0) socket.end();
  else if (end === 1) socket.resetAndDestroy();
}

/** Reads a stream with random pauses, and may abort it. */
async function readSlowly(stream: ResponseStream, random: Random): Promise<void> {
  await pause(random.below(10));
  let isFinished = false;
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      isFinished = true;
      resolve();
    };
    setTimeout(() => {
      stream.abort();
      finish();
    }, 100);
    stream.pipe({
      write() {
        if (random.chance(0.02)) stream.abort();
        if (random.chance(0.5)) return true;
        setTimeout(() => isFinished || stream.resume(), random.below(10));
        return false;
      },
      end: finish,
      fail: finish,
    });
  });
}

it('a request to a node ends with a response or with NodeError, whatever bytes the node sends', async () => {
  const random = new Random(sizeInSearch(Date.now(), { ordinary: 1 }));
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => void answer(socket, random));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = new NodeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens on TCP
  let left = REQUESTS;
  let whole = 0;
  let streams = 0;
  const request = async (): Promise<void> => {
    const response = client.relay('{}', {
      timeoutMs: 200,
      maxBytes: 200_000,
      mayStream: random.chance(0.7),
      streamAboveBytes: random.pick([0, 1_000, 50_000]),
      reservation: undefined,
    });
    if (random.chance(0.05)) setTimeout(() => response.abort(), random.below(5));
    const body = await response.body;
    if (body.kind === 'whole') whole++;
    else {
      streams++;
      await readSlowly(body.stream, random);
    }
  };
  const requests = async (): Promise<void> => {
    while (left-- > 0)
      await request().catch((error: unknown) => {
        expect(error).toBeInstanceOf(NodeError);
      });
  };
  await Promise.all(Array.from({ length: PARALLEL }, requests));
  expect(Math.min(whole, streams)).toBeGreaterThan(0);
  await client.close();
  await new Promise((resolve) => server.close(resolve));
});
