import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { call, send } from './support/send.ts';

const CONNECTIONS = 1_000;
const TEN_MEGABYTES = 10 * 1024 * 1024;
/** Below the maximum of brackets in a body. */
const DEPTH = 29_000;
const BODY = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';
const REQUEST = `POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`;

describe('a server with hostile clients', () => {
  let chain: SharedChain;
  let floodgate: FloodgateProcess;
  const open: Socket[] = [];

  beforeAll(async () => {
    chain = await startSharedChain();
    floodgate = await startFloodgateProcess({ upstream: chain.anvil.url });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.anvil.stop();
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    const { json } = await call(floodgate.gatewayUrl, 'eth_chainId');
    expect(json.result, 'the server still responds').toBe('0x7a69');
  });

  async function connected(): Promise<Socket> {
    const { hostname, port } = new URL(floodgate.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined); // some tests reset the connection
    open.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  it('rejects a body of 10 MB with 413, with or without content-length', async () => {
    const body = Buffer.alloc(TEN_MEGABYTES, 0x20);
    const reported = await send(floodgate.gatewayUrl, { body }).catch(
      (error: NodeJS.ErrnoException) => error,
    );
    if (reported instanceof Error) expect(reported.code).toMatch(/EPIPE|ECONNRESET/);
    else expect(reported).toMatchObject({ status: 413, json: { id: null, error: { code: -32005 } } });

    const socket = await connected();
    let answer = '';
    socket.setEncoding('latin1').on('data', (text) => {
      answer += text;
    });
    const closed = once(socket, 'close');
    socket.write('POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n');
    socket.write('transfer-encoding: chunked\r\n\r\n');
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < TEN_MEGABYTES && !socket.destroyed; sent += 0x10000) {
      socket.write(chunk);
      await nextTurn();
      if (answer !== '') break;
    }
    socket.end('0\r\n\r\n');
    await closed;
    expect(answer).toMatch(/^HTTP\/1.1 413 /);
  });

  it('rejects a content-length of 10 MB before the body is sent', async () => {
    const socket = await connected();
    socket.write(
      `POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${TEN_MEGABYTES}\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 /);
  });

  it.each([
    // A batch with one entry: the error belongs to the entry, so the status is 200.
    { where: 'the body', before: '[', after: ']', status: 200, code: -32600 },
    {
      where: 'params of an indexed method',
      before: '{"jsonrpc":"2.0","id":1,"method":"trace_filter","params":[',
      after: ']}',
      status: 200,
      code: -32602,
    },
    {
      where: 'params of a relayed method',
      before: '{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":[',
      after: ']}',
      status: 200,
      code: -32602,
    },
    {
      where: 'id',
      before: '{"jsonrpc":"2.0","method":"eth_chainId","id":',
      after: '}',
      status: 400,
      code: -32600,
    },
    { where: 'method', before: '{"jsonrpc":"2.0","id":1,"method":', after: '}', status: 400, code: -32600 },
  ])('rejects JSON nested 29,000 deep in $where', async ({ before, after, status, code }) => {
    const nested = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
    const answer = await send(floodgate.gatewayUrl, { body: before + nested + after });
    const entry = Array.isArray(answer.json) ? answer.json[0] : answer.json;
    expect({ status: answer.status, code: entry.error.code }).toEqual({ status, code });
  });

  it('rejects JSON nested 29,000 deep without closing brackets with -32700, and 100,000 deep with -32005', async () => {
    const answer = await send(floodgate.gatewayUrl, { body: '{"a":'.repeat(DEPTH) });
    expect(answer).toMatchObject({ status: 400, json: { error: { code: -32700 } } });
    const deeper = await send(floodgate.gatewayUrl, { body: '{"a":'.repeat(100_000) });
    expect(deeper).toMatchObject({ status: 200, json: { id: null, error: { code: -32005 } } });
  });

  it('serves other clients while 100 clients send one byte per second', async () => {
    const sockets = await Promise.all(Array.from({ length: 100 }, connected));
    const timer = setInterval(() => {
      for (const socket of sockets) socket.write('P');
    }, 1_000);
    try {
      for (const socket of sockets) socket.write('POST /v1/mainnet HTTP/1.1\r\nx: ');
      for (let i = 0; i < 100; i++)
        expect((await call(floodgate.gatewayUrl, 'eth_chainId')).status).toBe(200);
    } finally {
      clearInterval(timer);
    }
  });

  it('survives clients that close the connection within their request', async () => {
    for (let length = 1; length <= REQUEST.length; length += 3) {
      const socket = await connected();
      await new Promise((resolve) => socket.write(REQUEST.slice(0, length), resolve));
      socket.destroy();
    }
    expect(floodgate.process.exitCode).toBeNull();
  });

  it('survives clients that reset the connection before the response', async () => {
    const body = JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ ...JSON.parse(BODY), id })));
    for (let i = 0; i < 50; i++) {
      const socket = await connected();
      const head = `POST /v1/mainnet HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
      await new Promise((resolve) => socket.write(head + body, resolve));
      socket.resetAndDestroy();
    }
    expect(floodgate.process.exitCode).toBeNull();
  });

  it('responds on 1,000 concurrent connections', async () => {
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, connected));
    const answers = sockets.map(async (socket) => String((await once(socket, 'data'))[0]));
    for (const socket of sockets) socket.write(REQUEST);
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  });

  it('responds to pipelined requests in order', async () => {
    const socket = await connected();
    let answers = '';
    socket.setEncoding('latin1');
    const all = new Promise<void>((resolve) =>
      socket.on('data', (text) => {
        answers += text;
        if (answers.split('"result"').length > 50) resolve();
      }),
    );
    socket.write(Array.from({ length: 50 }, (_, i) => REQUEST.replace('"id":1', `"id":${i % 10}`)).join(''));
    await all;
    expect([...answers.matchAll(/"id":(\d)/g)].map((match) => Number(match[1]))).toEqual(
      Array.from({ length: 50 }, (_, i) => i % 10),
    );
  });

  it('answers 400 and closes a connection that does not use HTTP, and no other connection', async () => {
    const socket = await connected();
    const other = await connected();
    let answer = '';
    socket.setEncoding('latin1').on('data', (text) => {
      answer += text;
    });
    const closed = once(socket, 'close');
    socket.write('\x16\x03\x01 this is no HTTP\r\n\r\n');
    await closed;
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/);
    expect(JSON.parse(body)).toMatchObject({ error: expect.anything() });
    other.write(REQUEST);
    expect(String((await once(other, 'data'))[0])).toContain('"result":"0x7a69"');
  });
});
