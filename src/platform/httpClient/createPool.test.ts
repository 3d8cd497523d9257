import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { createPool } from './createPool.ts';

const BODY = 'a'.repeat(50_000);
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const CHUNK = `${BODY.length.toString(16)}\r\n${BODY}\r\n`;

/** Heads and bodies of responses. The parser passes their last bytes to the handler before it pauses. */
const RESPONSES = {
  'with a length': [`${LENGTH}Connection: close`, BODY],
  'with a length, on a connection that stays open': [LENGTH.trimEnd(), BODY],
  'without a length': ['Connection: close', BODY],
} as const;

/** Responses whose last bytes the parser keeps until it is resumed, or whose end is missing. */
const PARTS = {
  'of chunks': ['Transfer-Encoding: chunked\r\nConnection: close', `${CHUNK}0\r\n\r\n`],
  'of chunks, without the last': ['Transfer-Encoding: chunked\r\nConnection: close', CHUNK],
  'that is too short': [`Content-Length: ${BODY.length + 1}\r\nConnection: close`, BODY],
} as const;

/** Pauses a response at its first bytes, then lets the server close the connection. Returns how it ends for the handler. */
async function outcome(
  [head, body]: readonly [string, string],
  close: (socket: Socket) => void,
): Promise<{ readonly bytes: number; readonly ended: boolean }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`));
  });
  const connected = once(server, 'connection');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const pool = createPool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {}); // it listens on TCP
  onTestFinished(async () => {
    await pool.destroy();
    server.close();
  });
  return new Promise((resolve) => {
    let bytes = 0;
    pool.dispatch(
      { method: 'GET', path: '/' },
      {
        onRequestStart: () => undefined,
        onResponseData(controller: Dispatcher.DispatchController, chunk) {
          bytes += chunk.length;
          controller.pause();
          if (bytes < BODY.length) setImmediate(() => controller.resume());
          else connected.then(([socket]) => close(socket));
        },
        onResponseEnd: () => resolve({ bytes, ended: true }),
        onResponseError: () => resolve({ bytes, ended: false }),
      },
    );
  });
}

it.each(Object.entries(RESPONSES))(
  'a paused response %s ends if the server then closes the connection',
  async (_name, response) => {
    expect(await outcome(response, (socket) => socket.end())).toEqual({ bytes: BODY.length, ended: true });
  },
);

it('a paused response that is too short fails if the server then closes the connection', async () => {
  const response = PARTS['that is too short'];
  expect(await outcome(response, (socket) => socket.end())).toEqual({ bytes: BODY.length, ended: false });
});

it.each(Object.entries({ ...RESPONSES, ...PARTS }))(
  'a reset of the connection of a paused response %s ends only its request',
  async (_name, response) => {
    expect((await outcome(response, (socket) => socket.resetAndDestroy())).bytes).toBe(BODY.length);
  },
);
