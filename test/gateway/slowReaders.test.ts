import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HANG_MS } from '../support/hang.ts';
import { openIdleConnection, rawRequest } from '../support/idleReader.ts';
import { sizeInSearch } from '../support/search.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import {
  type Floodgate,
  type FloodgateProcess,
  startFloodgate,
  startFloodgateProcess,
} from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call, send } from './support/send.ts';

const MEGABYTE = 1024 * 1024;
/** Maximum growth of the server's memory: its peak minus its memory before the readers connected. */
const MAX_COST_BYTES = 300 * MEGABYTE;
/** Client address of the slow readers; all other clients use 127.0.0.1. */
const ATTACKER = '127.0.0.2';
/** Timeout for 1,000 responses of 10 MB on a busy machine. */
const LONG_MS = 600_000;
/** Number of readers; their responses far exceed the budget for unsent bytes. */
const MANY = sizeInSearch(1_000, { ordinary: 200 });
/** Maximum number of connections from the gateway to one node. */
const NODE_CONNECTIONS = 64;
/** Pause of a slow reader after each chunk of at most 64 KiB. */
const REST_MS = 10;
/** Maximum time without progress before the test fails. */
const MAX_PAUSE_MS = HANG_MS;

/** Fake response of 10 MB to any eth_call: a development node has no results of this size. */
const ANSWER = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":"0x${'61'.repeat(5 * MEGABYTE)}"}`);
const RESULT_CHARACTERS = ANSWER.length - '{"jsonrpc":"2.0","id":1,"result":""}'.length;

const callOf = (address: number): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_call',
  params: [{ to: `0x${address.toString(16).padStart(40, '0')}` }, 'latest'],
});

/** Reads a response chunk by chunk, with a pause after each. */
function slowly(url: string, body: unknown): ReturnType<typeof JSON.parse> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const request = httpRequest(url, { method: 'POST', agent: false, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        response.pause();
        setTimeout(() => response.resume(), REST_MS);
      });
      response.on('error', reject);
      response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
    });
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

describe('slow readers', () => {
  let chain: SharedChain;
  let node: InterceptedNode;
  const open: Socket[] = [];
  const servers: Floodgate[] = [];
  let nextAddress = 1;
  /** The node responds to eth_call after this promise resolves. */
  const mayAnswer: Promise<void> = Promise.resolve();

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startInterceptedNode(chain.anvil.url);
    node.intercept = ({ methods }, answer, response) => {
      if (methods[0] === 'eth_sendRawTransaction')
        return `{"jsonrpc":"2.0","id":1,"result":"0x${'ab'.repeat(32)}"}`;
      if (methods[0] !== 'eth_call') return answer();
      response.on('error', () => undefined);
      void mayAnswer.then(() => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER));
      return undefined;
    };
  });
  afterAll(async () => {
    await node?.stop();
    await chain?.anvil.stop();
  });
  afterEach(async () => {
    for (const socket of open.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) await server.stop();
  });

  async function start(...args: string[]): Promise<Floodgate> {
    const floodgate = await startFloodgate({ upstream: node.url, args });
    servers.push(floodgate);
    return floodgate;
  }

  /** Starts the server as a separate process to measure its memory. */
  async function startProcess(...args: string[]): Promise<FloodgateProcess> {
    const floodgate = await startFloodgateProcess({ upstream: node.url, args });
    servers.push(floodgate);
    return floodgate;
  }

  async function reader(floodgate: Floodgate, localAddress: string): Promise<Socket> {
    const socket = await openIdleConnection(floodgate.gatewayUrl, { localAddress });
    open.push(socket);
    return socket;
  }

  /** Returns the bytes of a new, distinct call, single or in a batch. */
  const ask = (floodgate: Floodgate, inBatch: boolean): string => {
    const one = callOf(nextAddress++);
    return rawRequest(floodgate.gatewayUrl, inBatch ? [one] : one);
  };

  /** Waits until every reader has received bytes or was closed; only a pause of `MAX_PAUSE_MS` without progress fails. */
  async function served(sockets: readonly Socket[]): Promise<void> {
    let last = -1;
    let sinceMs = performance.now();
    for (;;) {
      const count = sockets.filter(({ bytesRead, destroyed }) => bytesRead > 0 || destroyed).length;
      if (count === sockets.length) return;
      if (count > last) {
        last = count;
        sinceMs = performance.now();
      }
      if (performance.now() - sinceMs > MAX_PAUSE_MS)
        throw new Error(`${count} of ${sockets.length} readers were served, then no more`);
      await pause(100);
    }
  }

  const memoryOf = (floodgate: FloodgateProcess, field: 'VmRSS' | 'VmHWM'): number => {
    const status = readFileSync(`/proc/${floodgate.process.pid}/status`, 'utf8');
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  };

  async function metric(floodgate: Floodgate, line: string): Promise<number> {
    const text = await (await fetch(`${floodgate.url}/metrics`)).text();
    const found = text.split('\n').find((each) => each.startsWith(`${line} `));
    return Number(found?.slice(line.length + 1));
  }

  it.each([
    [150, 'of one address', 'in batches'],
    [MANY, 'of one address', 'as single calls'],
    [MANY, 'of many addresses', 'in batches'],
  ] as const)(
    'use less than 300 MB and do not block other clients (%i %s, each requesting 10 MB %s)',
    async (count, whose, how) => {
      // On a slow machine, 1,000 readers need longer than the default send timeout.
      const floodgate = await startProcess('--http-send-timeout-ms', '600000');
      const bytesBefore = process.platform === 'linux' ? memoryOf(floodgate, 'VmRSS') : 0;
      const sockets: Socket[] = [];
      for (let i = 0; i < count; i++)
        sockets.push(
          await reader(floodgate, whose === 'of one address' ? ATTACKER : `127.1.${i >> 8}.${1 + (i & 127)}`),
        );
      for (const socket of sockets) socket.write(ask(floodgate, how === 'in batches'));
      await served(sockets);
      expect(await metric(floodgate, 'floodgate_http_unsent_bytes')).toBeGreaterThan(10 * MEGABYTE);
      // Each address is different, so no result is cached.
      for (let i = 0; i < 20; i++) {
        const balance = await call(
          floodgate.gatewayUrl,
          'eth_getBalance',
          `0x${String(i).repeat(40).slice(0, 40)}`,
          'latest',
        );
        expect(balance).toMatchObject({ status: 200, json: { result: expect.stringMatching(/^0x/) } });
      }
      await until('a large response to another client', async () => {
        const answer = await send(floodgate.gatewayUrl, { body: callOf(nextAddress++) });
        return answer.status === 200 && answer.json.result.length === RESULT_CHARACTERS;
      });
      if (process.platform === 'linux')
        expect(memoryOf(floodgate, 'VmHWM') - bytesBefore).toBeLessThan(MAX_COST_BYTES);
    },
    LONG_MS,
  );

  it('occupy a slot of gateway.maxInFlight until they have read the last byte', async () => {
    const floodgate = await start('--gateway-max-in-flight', '1');
    const socket = await reader(floodgate, ATTACKER);
    socket.write(ask(floodgate, true));
    await served([socket]);
    expect(await call(floodgate.gatewayUrl, 'eth_chainId')).toMatchObject({
      status: 429,
      json: { error: { code: -32005 } },
    });
    socket.resume();
    await until('the reader to receive the response', () => socket.bytesRead > ANSWER.length);
    await until(
      'the slot to be free',
      async () => (await call(floodgate.gatewayUrl, 'eth_chainId')).status === 200,
    );
    expect(await metric(floodgate, 'floodgate_http_connections_closed_total{reason="requests"}')).toBe(0);
  });

  it('are closed if other clients need their slots', async () => {
    const floodgate = await start('--gateway-max-in-flight', '2');
    for (let i = 0; i < 2; i++) {
      const socket = await reader(floodgate, ATTACKER);
      socket.write(ask(floodgate, true));
      await served([socket]);
    }
    await until('a free slot', async () => (await call(floodgate.gatewayUrl, 'eth_chainId')).status === 200);
    expect(
      await metric(floodgate, 'floodgate_http_connections_closed_total{reason="requests"}'),
    ).toBeGreaterThan(0);
    expect(floodgate.output()).toContain('connections are closed whose clients do not read their answers');
  });

  it('are closed if other clients need their connections to the node', async () => {
    const floodgate = await start('--http-max-unsent-bytes', String(2048 * MEGABYTE));
    const sockets: Socket[] = [];
    for (let i = 0; i < NODE_CONNECTIONS; i++) sockets.push(await reader(floodgate, ATTACKER));
    for (const socket of sockets) socket.write(ask(floodgate, false));
    await served(sockets);
    const balance = await call(floodgate.gatewayUrl, 'eth_getBalance', `0x${'9'.repeat(40)}`, 'latest');
    expect(balance.json.error).toBeUndefined();
    expect(
      await metric(floodgate, 'floodgate_http_connections_closed_total{reason="requests"}'),
    ).toBeGreaterThan(0);
  });

  it('are closed after http.sendTimeoutMs even without demand', async () => {
    const floodgate = await start('--http-send-timeout-ms', '1000');
    const socket = await reader(floodgate, ATTACKER);
    socket.write(ask(floodgate, false));
    await until(
      'the connection to be closed',
      async () =>
        (await metric(floodgate, 'floodgate_http_connections_closed_total{reason="timeout"}')) === 1,
    );
    expect(await metric(floodgate, 'floodgate_http_unsent_bytes')).toBe(0);
  });

  it.each([true, false])(
    'receive their complete response if they read slowly (in a batch: %s)',
    async (inBatch) => {
      const floodgate = await start();
      const one = callOf(nextAddress++);
      const answer = await slowly(floodgate.gatewayUrl, inBatch ? [one] : one);
      expect([answer].flat()[0].result.length).toBe(RESULT_CHARACTERS);
    },
    LONG_MS,
  );

  it('release all slots when their connection ends, also with several pending responses', async () => {
    const floodgate = await start('--gateway-max-in-flight', '5');
    for (let round = 0; round < 3; round++) {
      const socket = await reader(floodgate, ATTACKER);
      socket.write(Array.from({ length: 4 }, () => ask(floodgate, false)).join(''));
      await served([socket]);
      socket.destroy();
    }
    await until('five free slots', async () => {
      const all = await Promise.all(
        Array.from({ length: 5 }, () => call(floodgate.gatewayUrl, 'eth_chainId')),
      );
      return all.every(({ status }) => status === 200);
    });
  });

  it('are rejected before a transaction is sent to a node', async () => {
    // The response exceeds the budget, so each further client has the smallest share, a sixteenth.
    const floodgate = await start('--http-max-unsent-bytes', String(2 * MEGABYTE));
    const socket = await reader(floodgate, '127.0.0.1');
    socket.write(ask(floodgate, true));
    await served([socket]);
    const before = node.counts.get('eth_sendRawTransaction') ?? 0;
    const refused = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', '0x02');
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '01' },
      json: { error: { code: -32005, data: { limit: (2 * MEGABYTE) / 16 } } },
    });
    expect(node.counts.get('eth_sendRawTransaction') ?? 0).toBe(before);
    expect(await metric(floodgate, 'floodgate_gateway_limited_total{limit="unsent_bytes"}')).toBe(1);
  });

  it('are counted by client address behind a trusted proxy', async () => {
    const floodgate = await start(
      '--http-max-unsent-bytes',
      String(2 * MEGABYTE),
      '--http-trusted-proxies',
      '127.0.0.1',
    );
    const socket = await reader(floodgate, '127.0.0.1');
    socket.write(rawRequest(floodgate.gatewayUrl, [callOf(nextAddress++)], ['x-forwarded-for: 2001:db8::1']));
    await served([socket]);
    const statusOf = async (address: string): Promise<number> => {
      const body = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] };
      return (await send(floodgate.gatewayUrl, { headers: { 'x-forwarded-for': address }, body })).status;
    };
    expect(await statusOf('2001:db8::1')).toBe(429);
    expect(await statusOf('2001:db8::ffff')).toBe(429);
    expect(await statusOf('2001:db8:1:1::1')).toBe(200);
    expect((await call(floodgate.gatewayUrl, 'eth_chainId')).status).toBe(200);
  });
});
