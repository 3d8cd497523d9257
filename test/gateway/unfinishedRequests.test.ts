import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FloodgateProcess, startFloodgateProcess, TOKEN } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { openWebSocket, type WebSocketClient } from './support/webSocketClient.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const UNFINISHED = 2_100;
/** Connections opened at the same time: fewer than 256, which is how many of one address may wait for a worker. */
const AT_ONCE = 100;
/** Number of requests of another client, each over a new connection. */
const OTHERS = 10;
/** The default of `gateway.maxBodyBytes`. */
const BODY_BYTES = 2 * MIB;
/** At most four bodies of one address are read at a time. */
const [OF_ADDRESS, READ_AT_ONCE] = [12, 4];
/** The server buffers at most this much of a body that waits, in addition to 16 KiB for its connection. */
const READ_AHEAD_BYTES = 64 * KIB;
/** More than fit into 128 MiB. */
const ADDRESSES = 80;
/** Above the limit of the rules API, 64 KiB; two such bodies exceed the budget of one address. */
const UPLOAD_BYTES = 12 * MIB;
const WEB_SOCKETS = 90;
const FRAGMENT_BYTES = 256 * KIB;

/** A call that needs no node: it is rejected with 403. */
const CALL = '{"jsonrpc":"2.0","id":1,"method":"unsupported","params":[]}';
const RULES = '/client/v4/accounts/a/network/advanced_dns_protection/configs/dns_protection/rules';
const HEAD = `host: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\n`;
const postHead = (path: string, framing: string): string =>
  `POST ${path} HTTP/1.1\r\n${HEAD}${framing}\r\n\r\n`;
const lengthOf = (bytes: number): string => `content-length: ${bytes}`;
const whole = (path: string, body: string): string => postHead(path, lengthOf(body.length)) + body;

/** A connection from a loopback address, with the received text. */
class Connection {
  readonly socket: Socket;
  text = '';

  constructor({ url }: FloodgateProcess, localAddress: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port), localAddress });
    this.socket.on('error', () => undefined); // the server closes some connections
    this.socket.setEncoding('latin1').on('data', (text) => {
      this.text += text;
    });
  }

  get status(): number | undefined {
    const status = /^HTTP\/1\.1 (\d+)/.exec(this.text)?.[1];
    return status === undefined ? undefined : Number(status);
  }

  /** Whether a response was received or the connection was closed. */
  get isFinished(): boolean {
    return this.status !== undefined || this.socket.closed;
  }
}

describe.each([
  { name: 'one process', args: [] },
  { name: 'two workers', args: ['--role', 'gateway,ingest,rules', '--workers', '2'] },
])('unfinished requests to a server of $name', ({ args }) => {
  let server: FloodgateProcess;
  const open: Connection[] = [];
  const webSockets: WebSocketClient[] = [];

  beforeAll(async () => {
    server = await startFloodgateProcess({
      upstream: 'http://127.0.0.1:9',
      args: [...args, '--gateway-web-socket-max-connections-per-address', '1000'],
      whenListening: true,
    });
  });
  afterAll(() => server?.stop());
  afterEach(async () => {
    for (const { socket } of open.splice(0)) socket.destroy();
    for (const client of webSockets.splice(0)) client.close();
    await until(
      'the unfinished bytes to be released',
      async () => (await metric('floodgate_http_unfinished_bytes')) === 0,
    );
  });

  const metric = async (name: string): Promise<number> => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  };
  async function connected(localAddress: string): Promise<Connection> {
    const connection = new Connection(server, localAddress);
    open.push(connection);
    await once(connection.socket, 'connect');
    return connection;
  }
  /** Sends a complete request and returns the status. */
  async function statusOf(localAddress: string, request: string): Promise<number | undefined> {
    const connection = await connected(localAddress);
    connection.socket.write(request);
    await until('the response', () => connection.isFinished);
    connection.socket.destroy();
    return connection.status;
  }

  it.each([
    { of: 'the gateway with a length', path: '/v1/mainnet', framing: lengthOf(500), part: '{' },
    {
      of: 'the gateway in chunks',
      path: '/v1/mainnet',
      framing: 'transfer-encoding: chunked',
      part: '1\r\n{\r\n',
    },
    { of: 'the gateway without a byte', path: '/v1/mainnet', framing: lengthOf(500), part: '' },
    { of: 'the rules API', path: RULES, framing: lengthOf(500), part: '{' },
    { of: 'an unknown path', path: '/nothing', framing: lengthOf(500), part: '{' },
  ])(
    'do not affect other clients or complete requests: 2,100 from one address to $of',
    async ({ path, framing, part }) => {
      const slow: Connection[] = [];
      while (slow.length < UNFINISHED) {
        const more = await Promise.all(Array.from({ length: AT_ONCE }, () => connected('127.0.0.1')));
        for (const { socket } of more) socket.write(postHead(path, framing) + part);
        slow.push(...more);
        expect(await statusOf('127.0.0.3', whole('/v1/mainnet', CALL))).toBe(403);
        // Connections of one address are passed to workers in order, so none of the others waits for one any more.
        expect(await statusOf('127.0.0.1', whole('/v1/mainnet', CALL))).toBe(403);
      }
      await until(
        'a third of the requests to be rejected',
        () => slow.filter(({ isFinished }) => isFinished).length > UNFINISHED / 3,
      );
      for (const address of ['127.0.0.2', '127.0.0.1'])
        for (let i = 0; i < OTHERS; i++)
          expect(await statusOf(address, whole('/v1/mainnet', CALL))).toBe(403);
      expect(await statusOf('127.0.0.2', whole(RULES, '{}'))).toBe(400);
      const rejected = slow.find(({ status }) => status === 429)?.text ?? '';
      if (path === '/nothing') return;
      expect(rejected).toMatch(/\r\nretry-after: 01\r\n/i);
      expect(rejected).toMatch(/\r\nconnection: close\r\n/i);
      expect(rejected).toContain(path === RULES ? '"code":10429' : '"code":-32005');
    },
  );

  it('of one address are read four at a time, and all are served as they finish', async () => {
    const slow = await Promise.all(Array.from({ length: OF_ADDRESS }, () => connected('127.0.0.1')));
    const bodyBytes = BODY_BYTES / 4;
    const body = CALL.padEnd(bodyBytes);
    for (const { socket } of slow)
      socket.write(postHead('/v1/mainnet', lengthOf(bodyBytes)) + body.slice(0, -1));
    const unfinished = () => metric('floodgate_http_unfinished_bytes');
    await until('some to be read', async () => (await unfinished()) > READ_AT_ONCE * (bodyBytes - 1));
    expect(await statusOf('127.0.0.1', whole('/v1/mainnet', CALL))).toBe(403);
    // Each worker reads four.
    const [processes, connectionBytes] = [args.length === 0 ? 1 : 2, READ_AHEAD_BYTES + 16 * KIB];
    const bound = processes * READ_AT_ONCE * bodyBytes + OF_ADDRESS * connectionBytes;
    expect(await unfinished()).toBeLessThanOrEqual(bound);
    for (const { socket } of slow) socket.write(body.slice(-1));
    await until('all responses', () => slow.every(({ isFinished }) => isFinished));
    expect(slow.map(({ status }) => status)).toEqual(Array(OF_ADDRESS).fill(403));
  });

  it('do not count the rest of a body that is read after the response', async () => {
    const upload = async (): Promise<Connection> => {
      const connection = await connected('127.0.0.1');
      connection.socket.write(postHead(RULES, lengthOf(UPLOAD_BYTES)));
      for (let sent = 0; sent < UPLOAD_BYTES - MIB; sent += MIB) {
        await new Promise((written) => connection.socket.write(Buffer.alloc(MIB, 0x20), written));
        await until('the response', () => connection.isFinished);
      }
      return connection;
    };
    const uploads = [await upload(), await upload(), await upload()];
    expect(uploads.map(({ status }) => status)).toEqual([413, 413, 413]);
    for (const { socket } of uploads) socket.write(' '.repeat(MIB) + whole('/v1/mainnet', CALL));
    await until('the response on each connection', () =>
      uploads.every(({ text, socket }) => text.includes('HTTP/1.1 403') || socket.closed),
    );
    expect(uploads.filter(({ socket }) => socket.closed)).toEqual([]);
  });

  it('are closed above 128 MiB for all clients, and others are accepted', async () => {
    const addresses = Array.from({ length: ADDRESSES }, (_, i) => `127.0.1.${i + 1}`);
    const slow = await Promise.all(addresses.map(connected));
    const body = Buffer.alloc(BODY_BYTES - 1, 0x20);
    for (const { socket } of slow) {
      socket.write(postHead('/v1/mainnet', lengthOf(BODY_BYTES)));
      socket.write(body);
    }
    await until('a connection to be closed', () => slow.some(({ socket }) => socket.closed));
    expect(await metric('floodgate_http_unfinished_bytes')).toBeLessThanOrEqual(128 * MIB);
    // A request sent in two parts is unfinished between them.
    await until('the request of another client to be served', async () => {
      const other = await connected('127.0.2.1');
      other.socket.write(postHead('/v1/mainnet', lengthOf(CALL.length)));
      // This response shows that the header section of the other request was read, or its connection was closed.
      expect(await statusOf('127.0.2.2', whole('/v1/mainnet', CALL))).toBe(403);
      other.socket.write(CALL);
      await until('the response', () => other.isFinished);
      return other.status === 403;
    });
    if (args.length === 0)
      expect(await metric('floodgate_http_unfinished_closed_total\\{reason="largest"\\}')).toBeGreaterThan(0);
  });

  it('close WebSockets with 1013 above 16 MiB for one address, and others are served', async () => {
    const slow = await Promise.all(
      Array.from({ length: WEB_SOCKETS }, () =>
        openWebSocket(server.gatewayUrl, {}, { localAddress: '127.0.0.1' }),
      ),
    );
    webSockets.push(...slow);
    for (const { socket } of slow) socket.send(' '.repeat(FRAGMENT_BYTES), { fin: false });
    const closed = await Promise.race(slow.map((client) => client.closed));
    expect(closed).toMatchObject({ code: 1013, reason: expect.stringContaining('unfinished') });
    const other = await openWebSocket(server.gatewayUrl, {}, { localAddress: '127.0.0.2' });
    webSockets.push(other);
    other.socket.send(' '.repeat(FRAGMENT_BYTES), { fin: false });
    other.socket.send(CALL.replace('"id":1', '"id":7'), { fin: true });
    await until('the response', () => other.messages.find(({ id }) => id === 7));
  });
});
