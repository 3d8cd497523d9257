import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HANG_MS } from '../support/hang.ts';
import { idleReader, rawRequest } from '../support/idleReader.ts';
import { inCi } from '../support/search.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import {
  type Floodgate,
  type FloodgateProcess,
  startFloodgate,
  startFloodgateProcess,
} from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { call, send } from './support/send.ts';
import { type SpoiltNode, startSpoiltNode } from './support/spoiltNode.ts';

const MEGABYTE = 1024 * 1024;
const MAX_RESIDENT_BYTES = 400 * MEGABYTE;
/** Where attackers come from; everybody else is 127.0.0.1. */
const ATTACKER = '127.0.0.2';
/** Some thousand answers of 10 MB on a machine that does much else. */
const LONG_MS = 600_000;
/** Many times what all of them together may take. */
const MANY = inCi(1_000, { elsewhere: 200 });
/** All that the gateway has to one node. */
const NODE_CONNECTIONS = 64;
/** Of a slow reader, between two pieces of 64 KiB at most. */
const REST_MS = 10;
/** Nothing at all happens for so long where something is wrong. */
const MAX_PAUSE_MS = HANG_MS;

/** No real node has so large answers at hand: this one makes up 10 MB for a call of any address. */
const ANSWER = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":"0x${'61'.repeat(5 * MEGABYTE)}"}`);
const RESULT_CHARACTERS = ANSWER.length - '{"jsonrpc":"2.0","id":1,"result":""}'.length;

const callOf = (address: number): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'eth_call',
  params: [{ to: `0x${address.toString(16).padStart(40, '0')}` }, 'latest'],
});

/** Reads an answer piece by piece, with a rest after each. */
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

describe('clients that do not read their answers', () => {
  let chain: SharedChain;
  let node: SpoiltNode;
  const open: Socket[] = [];
  const servers: Floodgate[] = [];
  let nextAddress = 1;
  /** What the node waits for before it answers a call. */
  let mayAnswer: Promise<void> = Promise.resolve();

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startSpoiltNode(chain.anvil.url);
    node.spoil = ({ methods }, answer, response) => {
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

  /** In a process of its own, whose memory is its alone. */
  async function startProcess(...args: string[]): Promise<FloodgateProcess> {
    const floodgate = await startFloodgateProcess({ upstream: node.url, args });
    servers.push(floodgate);
    return floodgate;
  }

  async function reader(floodgate: Floodgate, localAddress: string): Promise<Socket> {
    const socket = await idleReader(floodgate.gatewayUrl, { localAddress });
    open.push(socket);
    return socket;
  }

  /** Makes a call that nobody has made, by itself or in a batch. */
  const ask = (floodgate: Floodgate, inBatch: boolean): string => {
    const one = callOf(nextAddress++);
    return rawRequest(floodgate.gatewayUrl, inBatch ? [one] : one);
  };

  /** Waits until every reader was sent something, or was cut; `progress` by `progress`, however slow the machine is. */
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
        throw new Error(`of ${sockets.length} readers ${count} were served, and no other since`);
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
    [MANY, 'of one address', 'by themselves'],
    [MANY, 'of many addresses', 'in batches'],
  ] as const)(
    '%i %s that ask for 10 MB %s take less than 400 MB, and nobody is locked out by them',
    async (count, whose, how) => {
      // Nobody is cut for the time it takes: on a slow machine a thousand readers take longer than the usual one.
      const floodgate = await startProcess('--http-send-timeout-ms', '600000');
      const sockets: Socket[] = [];
      for (let i = 0; i < count; i++)
        sockets.push(
          await reader(floodgate, whose === 'of one address' ? ATTACKER : `127.1.${i >> 8}.${1 + (i & 127)}`),
        );
      for (const socket of sockets) socket.write(ask(floodgate, how === 'in batches'));
      await served(sockets);
      expect(await metric(floodgate, 'floodgate_http_unsent_bytes')).toBeGreaterThan(10 * MEGABYTE);
      // Relayed afresh, each of them; and so is a large one.
      for (let i = 0; i < 20; i++) {
        const balance = await call(
          floodgate.gatewayUrl,
          'eth_getBalance',
          `0x${String(i).repeat(40).slice(0, 40)}`,
          'latest',
        );
        expect(balance).toMatchObject({ status: 200, json: { result: expect.stringMatching(/^0x/) } });
      }
      await until('a large answer finds room', async () => {
        const answer = await send(floodgate.gatewayUrl, { body: callOf(nextAddress++) });
        return answer.status === 200 && answer.json.result.length === RESULT_CHARACTERS;
      });
      if (process.platform === 'linux') expect(memoryOf(floodgate, 'VmHWM')).toBeLessThan(MAX_RESIDENT_BYTES);
    },
    LONG_MS,
  );

  it(
    `${MANY} that ask for the same 10 MB share its memory, and each could read it`,
    async (context) => {
      if (process.platform !== 'linux') context.skip('reads /proc to see the memory of the server');
      const floodgate = await startProcess(
        ...['--http-send-timeout-ms', '600000', '--gateway-request-timeout-ms', '300000'],
      );
      const sockets: Socket[] = [];
      for (let i = 0; i < MANY; i++)
        sockets.push(await reader(floodgate, `127.1.${i >> 8}.${1 + (i & 127)}`));
      // Who asks while an answer is under way shares it, so all of them ask before it comes.
      let answer = (): void => undefined;
      mayAnswer = new Promise((resolve) => {
        answer = resolve;
      });
      const same = ask(floodgate, true);
      for (const socket of sockets) socket.write(same);
      await until(
        'all have asked',
        async () => (await metric(floodgate, 'floodgate_gateway_requests_in_flight')) === sockets.length,
      );
      answer();
      await served(sockets);
      expect(memoryOf(floodgate, 'VmHWM')).toBeLessThan(MAX_RESIDENT_BYTES);
      expect(await metric(floodgate, 'floodgate_http_connections_cut_total{reason="memory"}')).toBe(0);
    },
    LONG_MS,
  );

  it('keep their place until the last byte is taken, and give it back when it is', async () => {
    const floodgate = await start('--gateway-max-in-flight', '1');
    const socket = await reader(floodgate, ATTACKER);
    socket.write(ask(floodgate, true));
    await served([socket]);
    expect(await call(floodgate.gatewayUrl, 'eth_chainId')).toMatchObject({
      status: 429,
      json: { error: { code: -32005 } },
    });
    socket.resume();
    await until('it has read', () => socket.bytesRead > ANSWER.length);
    await until(
      'its place is free',
      async () => (await call(floodgate.gatewayUrl, 'eth_chainId')).status === 200,
    );
    expect(await metric(floodgate, 'floodgate_http_connections_cut_total{reason="place"}')).toBe(0);
  });

  it('are cut where others want their place', async () => {
    const floodgate = await start('--gateway-max-in-flight', '2');
    for (let i = 0; i < 2; i++) {
      const socket = await reader(floodgate, ATTACKER);
      socket.write(ask(floodgate, true));
      await served([socket]);
    }
    await until(
      'there is a place',
      async () => (await call(floodgate.gatewayUrl, 'eth_chainId')).status === 200,
    );
    expect(await metric(floodgate, 'floodgate_http_connections_cut_total{reason="place"}')).toBeGreaterThan(
      0,
    );
    expect(floodgate.output()).toContain('connections were cut whose clients do not read their answers');
  });

  it('are cut where others want the connections to a node that they hold', async () => {
    const bound = String(1024 * MEGABYTE);
    const floodgate = await start(
      ...['--http-max-unsent-bytes', bound, '--http-max-unsent-bytes-per-address', bound],
    );
    const sockets: Socket[] = [];
    for (let i = 0; i < NODE_CONNECTIONS; i++) sockets.push(await reader(floodgate, ATTACKER));
    for (const socket of sockets) socket.write(ask(floodgate, false));
    await served(sockets);
    const balance = await call(floodgate.gatewayUrl, 'eth_getBalance', `0x${'9'.repeat(40)}`, 'latest');
    expect(balance.json.error).toBeUndefined();
    expect(await metric(floodgate, 'floodgate_http_connections_cut_total{reason="place"}')).toBeGreaterThan(
      0,
    );
  });

  it('are cut after the time to send, though nobody wants anything', async () => {
    const floodgate = await start('--http-send-timeout-ms', '1000');
    const socket = await reader(floodgate, ATTACKER);
    socket.write(ask(floodgate, false));
    await until(
      'it is cut',
      async () => (await metric(floodgate, 'floodgate_http_connections_cut_total{reason="timeout"}')) === 1,
    );
    expect(await metric(floodgate, 'floodgate_http_unsent_bytes')).toBe(0);
  });

  it.each([true, false])(
    'but slowly get their whole answer (in a batch: %s)',
    async (inBatch) => {
      const floodgate = await start();
      const one = callOf(nextAddress++);
      const answer = await slowly(floodgate.gatewayUrl, inBatch ? [one] : one);
      expect([answer].flat()[0].result.length).toBe(RESULT_CHARACTERS);
    },
    LONG_MS,
  );

  it('hold no place once their connection is gone, however many answers they wait for', async () => {
    const floodgate = await start('--gateway-max-in-flight', '5');
    for (let round = 0; round < 3; round++) {
      const socket = await reader(floodgate, ATTACKER);
      socket.write(Array.from({ length: 4 }, () => ask(floodgate, false)).join(''));
      await served([socket]);
      socket.destroy();
    }
    await until('there is room for five', async () => {
      const all = await Promise.all(
        Array.from({ length: 5 }, () => call(floodgate.gatewayUrl, 'eth_chainId')),
      );
      return all.every(({ status }) => status === 200);
    });
  });

  it('send no transaction: it is refused before a node hears of it', async () => {
    const floodgate = await start('--http-max-unsent-bytes-per-address', String(MEGABYTE));
    const socket = await reader(floodgate, '127.0.0.1');
    socket.write(ask(floodgate, true));
    await served([socket]);
    const before = node.counts.get('eth_sendRawTransaction') ?? 0;
    const refused = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', '0x02');
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      json: { error: { code: -32005, data: { limit: MEGABYTE } } },
    });
    expect(node.counts.get('eth_sendRawTransaction') ?? 0).toBe(before);
    expect(await metric(floodgate, 'floodgate_gateway_limited_total{limit="unsent_bytes"}')).toBe(1);
  });

  it('behind a proxy are counted by themselves', async () => {
    const floodgate = await start(
      ...['--http-max-unsent-bytes-per-address', String(MEGABYTE), '--http-trusted-proxies', '127.0.0.1'],
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
    expect(await statusOf('2001:db8:0:1::1')).toBe(200);
    expect((await call(floodgate.gatewayUrl, 'eth_chainId')).status).toBe(200);
  });
});
