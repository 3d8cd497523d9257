import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { send } from './support/send.ts';
import { openWebSocket, type WebSocketClient } from './support/webSocketClient.ts';

const MAX_BODY_BYTES = 100_000;
const PER_ADDRESS = 5;
/** Longer than the delay of a pong on a busy machine. */
const IDLE_MS = 6_000;
const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const GOOD_ORIGIN = 'https://app.example';

let chain: SharedChain;
let floodgate: Floodgate;
const open: { close(): void }[] = [];

beforeAll(async () => {
  chain = await startSharedChain();
  floodgate = await startFloodgate({
    upstream: chain.anvil.url,
    config: {
      gateway: {
        maxBodyBytes: MAX_BODY_BYTES,
        corsOrigins: [GOOD_ORIGIN],
        webSocket: { maxConnectionsPerAddress: PER_ADDRESS },
      },
    },
  });
});
afterAll(async () => {
  await floodgate?.stop();
  await chain?.anvil.stop();
});
afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await until('all connections to close', async () => (await connections()) === 0);
});

async function opened(headers = {}): Promise<WebSocketClient> {
  const client = await openWebSocket(floodgate.gatewayUrl, headers);
  open.push(client);
  return client;
}

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${floodgate.url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length));
};
const connections = (): Promise<number> => metric('floodgate_gateway_websocket_connections');
const closes = (reason: string): Promise<number> =>
  metric(`floodgate_gateway_websocket_closes_total{reason="${reason}"}`);

describe('calls over a WebSocket', () => {
  it('get the same responses as over HTTP, and none for notifications', async () => {
    const { socket, messages } = await opened();
    const sent = [
      { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] },
      { jsonrpc: '2.0', id: 'b', method: 'eth_getBalance', params: ['0x', 'latest'] },
      { jsonrpc: '2.0', id: 3, method: 'eth_sign', params: [] },
      { jsonrpc: '2.0', method: 'eth_chainId' },
      { id: 4 },
      [],
      [{ jsonrpc: '2.0', id: 5, method: 'trace_block', params: ['0x1'] }, 7],
      { jsonrpc: '2.0', id: 6, method: 'trace_filter', params: [{ fromBlock: '0x0', toBlock: 'latest' }] },
    ];
    for (const message of sent) socket.send(JSON.stringify(message));
    await until('all responses', () => messages.length === sent.length - 1);
    for (const message of sent) {
      const { json } = await send(floodgate.gatewayUrl, { body: message });
      if (json !== undefined) expect(messages).toContainEqual(json);
    }
  });

  it('may be sent as binary messages, as by web3.py, and in fragments', async () => {
    const { socket, messages } = await opened();
    socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'));
    socket.send('{"jsonrpc":"2.0","id":2,', { fin: false });
    socket.send('"method":"eth_chainId"}', { fin: true });
    await until('both responses', () => messages.length === 2);
    expect(messages.map(({ result }) => result)).toEqual(['0x7a69', '0x7a69']);
  });

  it('all get a response if 2,000 are sent at once', async () => {
    const CALLS = 2_000;
    const { socket, messages } = await opened();
    for (let id = 0; id < CALLS; id++)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }));
    await until('all responses', () => messages.length === CALLS);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(CALLS);
  });

  it('get -32700 for invalid JSON, and the connection stays open', async () => {
    const client = await opened();
    client.socket.send('{"jsonrpc');
    await until('the error', () => client.messages.length === 1);
    expect(client.messages[0]).toMatchObject({ id: null, error: { code: -32700 } });
    expect((await client.call('eth_chainId')).result).toBe('0x7a69');
  });
});

describe('a WebSocket handshake', () => {
  const ask = (headers: Record<string, string>, path = '/v1/mainnet') =>
    send(`${floodgate.url}${path}`, { method: 'GET', headers: { ...HANDSHAKE, ...headers } });

  it('is rejected for other origins and accepted for gateway.corsOrigins', async () => {
    expect(await ask({ origin: 'https://evil.example' })).toMatchObject({
      status: 403,
      json: { id: null, error: { code: -32600 } },
    });
    const { call } = await opened({ origin: GOOD_ORIGIN });
    expect((await call('eth_chainId')).result).toBe('0x7a69');
  });

  it.each([
    { is: 'with another version', headers: { 'sec-websocket-version': '12' }, status: 426 },
    { is: 'without a key', headers: { 'sec-websocket-key': 'x' }, status: 400 },
    { is: 'for an unknown network', headers: {}, path: '/v1/none', status: 404 },
    { is: 'with an unknown host (DNS rebinding)', headers: { host: 'evil.example' }, status: 421 },
  ])('$is is rejected with $status', async ({ headers, path, status }) => {
    const answer = await ask(headers, path);
    expect(answer).toMatchObject({ status, json: { id: null, error: { code: -32600 } } });
    expect(answer.headers['connection']).toBe('close');
  });

  it('is ignored for other paths, protocols and POST', async () => {
    const { status, json } = await send(`${floodgate.url}/healthz`, { method: 'GET', headers: HANDSHAKE });
    expect({ status, json }).toEqual({ status: 200, json: { status: 'ok' } });
    // Java's HttpClient offers an upgrade to HTTP/2 in the first request of a connection.
    const h2c = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAEAAEAAAAIAAAAA',
    };
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' };
    const answer = await send(floodgate.gatewayUrl, { headers: h2c, body });
    expect(answer).toMatchObject({ status: 200, json: { result: '0x7a69' } });
    const posted = await send(floodgate.gatewayUrl, { headers: HANDSHAKE, body });
    expect(posted).toMatchObject({ status: 200, json: { result: '0x7a69' } });
  });

  it('without Connection: Upgrade, which a proxy may remove, is rejected with a hint', async () => {
    const { status, json } = await ask({ connection: 'close' });
    expect({ status, message: json.error.message }).toMatchObject({
      status: 405,
      message: expect.stringContaining('proxy'),
    });
  });

  it('is limited per client address until a connection closes', async () => {
    for (let i = 0; i < PER_ADDRESS; i++) await opened();
    const refused = await ask({});
    expect(refused).toMatchObject({
      status: 429,
      json: { error: { code: -32005, data: { limit: PER_ADDRESS, requested: PER_ADDRESS + 1 } } },
    });
    expect(refused.headers['retry-after']).toBe('10');
    open.shift()?.close();
    await until('one connection to close', async () => (await connections()) === PER_ADDRESS - 1);
    await opened();
  });

  it('may follow a request on the same connection and share a packet with messages', async () => {
    const socket = await connected();
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_sign"}';
    // After a rejected request, the server reads the connection in time slices.
    socket.write(
      `POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until('the rejection', () => socket.text().includes('403 Forbidden'));
    const message = frame(0x81, Buffer.from('{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}'));
    socket.write(Buffer.concat([Buffer.from(handshake()), message, message]));
    await until('both responses', () => socket.text().split('0x7a69').length === 3);
    expect(socket.text()).toContain('101 Switching Protocols');
  });
});

describe('a WebSocket with invalid frames', () => {
  it.each([
    {
      is: 'a message above the limit',
      bytes: frameHead(0x81, 10 * 1024 * 1024),
      code: 1009,
      reason: 'too_large',
    },
    {
      is: 'bytes that are not a frame',
      bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      code: 1002,
      reason: 'invalid',
    },
    {
      is: 'text that is not UTF-8',
      bytes: frame(0x81, Buffer.from([0xc3, 0x28])),
      code: 1007,
      reason: 'invalid',
    },
    { is: 'a frame without a mask', bytes: Buffer.from([0x81, 0x01, 0x31]), code: 1002, reason: 'invalid' },
    {
      is: 'a message of 2,000 fragments',
      bytes: Buffer.concat(pieces(2_000)),
      code: 1008,
      reason: 'invalid',
    },
  ])('is closed with $code after $is', async ({ bytes, code, reason }) => {
    const before = await closes(reason);
    const socket = await connected();
    socket.write(handshake());
    await until('the handshake', () => socket.text().includes('\r\n\r\n'));
    socket.write(bytes);
    await until('the connection to close', () => socket.destroyed);
    expect(closeCodeIn(socket.bytes())).toBe(code);
    await until('the close to be counted', async () => (await closes(reason)) === before + 1);
  });
});

describe('an idle WebSocket', () => {
  let impatient: Floodgate;
  beforeAll(async () => {
    const webSocket = { idleTimeoutMs: IDLE_MS };
    impatient = await startFloodgate({ upstream: chain.anvil.url, tuning: { webSocket } });
  });
  afterAll(async () => {
    await impatient?.stop();
  });

  it('is closed with 1001 if it has an incomplete frame, and stays open if it answers pings', async () => {
    const alive = await openWebSocket(impatient.gatewayUrl);
    open.push(alive);
    let pings = 0;
    alive.socket.on('ping', () => pings++);
    const socket = await connected(impatient.url);
    socket.write(handshake());
    await until('the handshake', () => socket.text().includes('\r\n\r\n'));
    socket.write(frameHead(0x81, 50_000));
    await until('the close frame', () => closeCodeIn(socket.bytes()) === 1001);
    const text = await (await fetch(`${impatient.url}/metrics`)).text();
    expect(text).toContain('floodgate_gateway_websocket_closes_total{reason="idle"} 1');
    expect(pings).toBeGreaterThan(0);
    expect((await alive.call('eth_chainId')).result).toBe('0x7a69');
  });
});

interface RawSocket extends Socket {
  text(): string;
  bytes(): Buffer;
}

/** Opens a TCP connection and collects the received bytes. */
async function connected(url = floodgate.url): Promise<RawSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = Buffer.alloc(0);
  socket.on('data', (more) => {
    received = Buffer.concat([received, more]);
  });
  socket.on('error', () => undefined); // some tests cause a reset
  open.push({ close: () => socket.destroy() });
  await once(socket, 'connect');
  return Object.assign(socket, { text: () => received.toString('latin1'), bytes: () => received });
}

const handshake = (): string =>
  `GET /v1/mainnet HTTP/1.1\r\nhost: localhost\r\n${Object.entries(HANDSHAKE)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** Returns a frame header for a payload of `length` bytes, with a zero mask. */
function frameHead(first: number, length: number): Buffer {
  const head = Buffer.alloc(14);
  head[0] = first;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head; // a zero mask leaves the payload unchanged
}

const frame = (first: number, payload: Buffer): Buffer =>
  Buffer.concat([frameHead(first, payload.length), payload]);

const pieces = (count: number): Buffer[] => [
  frame(0x01, randomBytes(0)),
  ...Array.from({ length: count }, () => frame(0x00, Buffer.from(' '))),
];

/** Returns the code of the close frame at the end of the received bytes. */
function closeCodeIn(bytes: Buffer): number | undefined {
  const at = bytes.lastIndexOf(0x88);
  return at === -1 || at + 4 > bytes.length ? undefined : bytes.readUInt16BE(at + 2);
}
