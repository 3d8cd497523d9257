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
/** A client that a busy machine holds up for so long is taken for gone. */
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
  await until('no connection is left', async () => (await connections()) === 0);
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
  it('are answered as over HTTP, each by its id, notifications not at all', async () => {
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
    await until('all are answered', () => messages.length === sent.length - 1);
    for (const message of sent) {
      const { json } = await send(floodgate.gatewayUrl, { body: message });
      if (json !== undefined) expect(messages).toContainEqual(json);
    }
  });

  it('may come as bytes, as web3.py sends them, and in pieces', async () => {
    const { socket, messages } = await opened();
    socket.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'));
    socket.send('{"jsonrpc":"2.0","id":2,', { fin: false });
    socket.send('"method":"eth_chainId"}', { fin: true });
    await until('both are answered', () => messages.length === 2);
    expect(messages.map(({ result }) => result)).toEqual(['0x7a69', '0x7a69']);
  });

  it('are all answered when many are sent at once, while others have their turn', async () => {
    const CALLS = 2_000;
    const { socket, messages } = await opened();
    for (let id = 0; id < CALLS; id++)
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }));
    await until('all are answered', () => messages.length === CALLS);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(CALLS);
  });

  it('that are no JSON get an error, and the connection stays', async () => {
    const client = await opened();
    client.socket.send('{"jsonrpc');
    await until('it is answered', () => client.messages.length === 1);
    expect(client.messages[0]).toMatchObject({ id: null, error: { code: -32700 } });
    expect((await client.call('eth_chainId')).result).toBe('0x7a69');
  });
});

describe('a handshake', () => {
  const ask = (headers: Record<string, string>, path = '/v1/mainnet') =>
    send(`${floodgate.url}${path}`, { method: 'GET', headers: { ...HANDSHAKE, ...headers } });

  it('of a page from elsewhere is refused, and of one that may call opens', async () => {
    expect(await ask({ origin: 'https://evil.example' })).toMatchObject({
      status: 403,
      json: { id: null, error: { code: -32600 } },
    });
    const { call } = await opened({ origin: GOOD_ORIGIN });
    expect((await call('eth_chainId')).result).toBe('0x7a69');
  });

  it.each([
    { is: 'of another version', headers: { 'sec-websocket-version': '12' }, status: 426 },
    { is: 'without a key', headers: { 'sec-websocket-key': 'x' }, status: 400 },
    { is: 'for a network that there is not', headers: {}, path: '/v1/none', status: 404 },
    { is: 'by a name that resolves here (DNS rebinding)', headers: { host: 'evil.example' }, status: 421 },
  ])('$is is told so', async ({ headers, path, status }) => {
    const answer = await ask(headers, path);
    expect(answer).toMatchObject({ status, json: { id: null, error: { code: -32600 } } });
    expect(answer.headers['connection']).toBe('close');
  });

  it('for what is no WebSocket is answered as if it were none', async () => {
    const { status, json } = await send(`${floodgate.url}/healthz`, { method: 'GET', headers: HANDSHAKE });
    expect({ status, json }).toEqual({ status: 200, json: { status: 'ok' } });
    // Java's HttpClient offers HTTP/2 with each first request.
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

  it('without Connection: Upgrade, as a proxy may leave it, is told what is missing', async () => {
    const { status, json } = await ask({ connection: 'close' });
    expect({ status, message: json.error.message }).toMatchObject({
      status: 405,
      message: expect.stringContaining('proxy'),
    });
  });

  it('is one of so many of an address, and counts no more once it is closed', async () => {
    for (let i = 0; i < PER_ADDRESS; i++) await opened();
    const refused = await ask({});
    expect(refused).toMatchObject({
      status: 429,
      json: { error: { code: -32005, data: { limit: PER_ADDRESS, requested: PER_ADDRESS + 1 } } },
    });
    expect(refused.headers['retry-after']).toBe('10');
    open.shift()?.close();
    await until('one is closed', async () => (await connections()) === PER_ADDRESS - 1);
    await opened();
  });

  it('may follow a request on the same connection, and messages may come in the same bytes', async () => {
    const socket = await connected();
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_sign"}';
    // Refused: from there on its bytes are read in turns.
    socket.write(
      `POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until('it is refused', () => socket.text().includes('403 Forbidden'));
    const message = frame(0x81, Buffer.from('{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}'));
    socket.write(Buffer.concat([Buffer.from(handshake()), message, message]));
    await until('both are answered', () => socket.text().split('0x7a69').length === 3);
    expect(socket.text()).toContain('101 Switching Protocols');
  });
});

describe('what clients do to a WebSocket', () => {
  it.each([
    {
      is: 'a message above the limit',
      bytes: frameHead(0x81, 10 * 1024 * 1024),
      code: 1009,
      reason: 'too_large',
    },
    { is: 'no frame at all', bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'), code: 1002, reason: 'invalid' },
    {
      is: 'text that is no UTF-8',
      bytes: frame(0x81, Buffer.from([0xc3, 0x28])),
      code: 1007,
      reason: 'invalid',
    },
    { is: 'a frame without a mask', bytes: Buffer.from([0x81, 0x01, 0x31]), code: 1002, reason: 'invalid' },
    { is: 'pieces without end', bytes: Buffer.concat(pieces(2_000)), code: 1008, reason: 'invalid' },
  ])('$is closes it with the right code', async ({ bytes, code, reason }) => {
    const before = await closes(reason);
    const socket = await connected();
    socket.write(handshake());
    await until('it is open', () => socket.text().includes('\r\n\r\n'));
    socket.write(bytes);
    await until('it is closed', () => socket.destroyed);
    expect(closeCodeIn(socket.bytes())).toBe(code);
    await until('it is counted', async () => (await closes(reason)) === before + 1);
  });
});

describe('an idle WebSocket', () => {
  let impatient: Floodgate;
  beforeAll(async () => {
    const webSocket = { idleTimeoutMs: IDLE_MS };
    impatient = await startFloodgate({ upstream: chain.anvil.url, config: { gateway: { webSocket } } });
  });
  afterAll(async () => {
    await impatient?.stop();
  });

  it('that has half a frame ends with its time, and one that answers pings stays', async () => {
    const alive = await openWebSocket(impatient.gatewayUrl);
    open.push(alive);
    let pings = 0;
    alive.socket.on('ping', () => pings++);
    const socket = await connected(impatient.url);
    socket.write(handshake());
    await until('it is open', () => socket.text().includes('\r\n\r\n'));
    socket.write(frameHead(0x81, 50_000));
    await until('it is closed', () => closeCodeIn(socket.bytes()) === 1001);
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

/** A connection, and what came over it. */
async function connected(url = floodgate.url): Promise<RawSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = Buffer.alloc(0);
  socket.on('data', (more) => {
    received = Buffer.concat([received, more]);
  });
  socket.on('error', () => undefined); // a reset is what some of these tests are about
  open.push({ close: () => socket.destroy() });
  await once(socket, 'connect');
  return Object.assign(socket, { text: () => received.toString('latin1'), bytes: () => received });
}

const handshake = (): string =>
  `GET /v1/mainnet HTTP/1.1\r\nhost: localhost\r\n${Object.entries(HANDSHAKE)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

/** The head of a frame of so many bytes, with its mask. */
function frameHead(first: number, length: number): Buffer {
  const head = Buffer.alloc(14);
  head[0] = first;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head; // a mask of zeros changes nothing
}

const frame = (first: number, payload: Buffer): Buffer =>
  Buffer.concat([frameHead(first, payload.length), payload]);

const pieces = (count: number): Buffer[] => [
  frame(0x01, randomBytes(0)),
  ...Array.from({ length: count }, () => frame(0x00, Buffer.from(' '))),
];

/** The code of the close frame at the end of what came. */
function closeCodeIn(bytes: Buffer): number | undefined {
  const at = bytes.lastIndexOf(0x88);
  return at === -1 || at + 4 > bytes.length ? undefined : bytes.readUInt16BE(at + 2);
}
