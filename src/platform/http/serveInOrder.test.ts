import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { anyReaders } from '../../../test/support/anyReaders.ts';
import { anyUnfinished } from '../../../test/support/anyUnfinished.ts';
import { HTTP_CLASSES } from './httpClasses.ts';
import { serveInOrder } from './serveInOrder.ts';

const server = createServer(HTTP_CLASSES, (_, response) => response.end('other'));
/** URLs of the requests whose API key was determined. */
let identified: (string | undefined)[];
/** Sends the body of the request that has arrived. */
let sendBody: () => void;
const interceptor = {
  handles: (url: string | undefined) => url?.startsWith('/v1/') === true,
  handle: (_: IncomingMessage, response: { end(text: string): void }) => response.end('gateway'),
  keyIdOf(request: IncomingMessage) {
    identified.push(request.url);
    return 'key';
  },
  upgrade: ({ response }: { readonly response: { end(text: string): void } }) => response.end('WebSocket'),
};

beforeEach(async () => {
  identified = [];
  if (server.listening) return;
  anyReaders().watch(server);
  serveInOrder(server, { interceptor, unfinished: anyUnfinished(), handled: () => sendBody() });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => server.closeAllConnections());

/** Sends a request, and its body after the server has received its header. Returns the body of its response. */
async function bodyOf(head: string, body: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sendBody = () => setImmediate(() => socket.write(body));
  socket.write(`${head}host: x\r\nconnection: close\r\n\r\n`);
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (more) => {
    text += String(more);
  });
  await once(socket, 'close');
  return text.slice(text.indexOf('\r\n\r\n') + 4);
}

it.each([
  ['POST /v1/mainnet HTTP/1.1\r\ncontent-length: 2\r\n', '{}', 'gateway'],
  ['POST /other HTTP/1.1\r\ncontent-length: 2\r\n', '{}', 'other'],
  ['GET /v1/mainnet HTTP/1.1\r\n', '', 'gateway'],
  ['GET /health HTTP/1.1\r\n', '', 'other'],
  ['GET /v1/mainnet HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n', '', 'WebSocket'],
  ['GET /health HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n', '', 'other'],
])('%o is answered by the part of the server that handles its path', async (head, body, answer) => {
  expect(await bodyOf(head, body)).toContain(answer);
});

it.each([
  ['GET http://x/v1/mainnet?a=b HTTP/1.1\r\n', 'gateway'],
  ['GET HTTPS://x/v1/mainnet HTTP/1.1\r\n', 'gateway'],
  ['GET http://x?/v1/ HTTP/1.1\r\n', 'other'],
  ['GET http://x/v1/mainnet HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n', 'WebSocket'],
])('%o, whose target is a whole URL, is answered like one with its path', async (head, answer) => {
  expect(await bodyOf(head, '')).toContain(answer);
});

it('the API key of an incomplete request is determined only on paths that have keys', async () => {
  await bodyOf('POST /other HTTP/1.1\r\ncontent-length: 2\r\n', '{}');
  expect(identified).toEqual([]);
  await bodyOf('POST /v1/mainnet HTTP/1.1\r\ncontent-length: 2\r\n', '{}');
  expect(identified).toEqual(['/v1/mainnet']);
});
