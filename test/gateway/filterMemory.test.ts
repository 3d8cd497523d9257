import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sizeInSearch } from '../support/search.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { openWebSocket, type WebSocketClient } from './support/webSocketClient.ts';

/** Much less than the filters and subscriptions of these tests used before the budget existed. */
const HEAP_MB = 160;
const MIB = 1024 * 1024;
const FILTERS = sizeInSearch(1_122, { ordinary: 300 });
const SUBSCRIPTIONS = sizeInSearch(1_000, { ordinary: 300 });
/** Number of subscriptions that far exceeds the budget of one client address. */
const REFUSED = 40;
/** Addresses of clients, on the loopback network. */
const clientAddress = (number: number): string => `127.0.0.${number}`;
/** Number of clients that use as much as possible. */
const CLIENTS = 100;
const AT_ONCE = 8;

const hex = (bytes: number): string => `0x${randomBytes(bytes).toString('hex')}`;
/** A filter of the maximum size. */
const largest = (address: () => string, topic: () => string) => ({
  address: Array.from({ length: 1_000 }, address),
  topics: Array.from({ length: 4 }, () => Array.from({ length: 1_000 }, topic)),
});
const [ADDRESS, TOPIC] = [hex(20), hex(32)];
const DUPLICATES = largest(
  () => ADDRESS,
  () => TOPIC,
);
const distinct = () =>
  largest(
    () => hex(20),
    () => hex(32),
  );

/** Calls `work` with each number below `count`, `AT_ONCE` at a time. */
async function forEach(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) await work(number);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

describe.each([
  { name: 'one process', args: [], workers: 1 },
  { name: 'two workers', args: ['--role', 'gateway,ingest', '--workers', '2'], workers: 2 },
])('filters and subscriptions of $name with a heap of 160 MB', ({ args, workers }) => {
  const totalBytes = (64 * MIB) / workers;
  let chain: ReplicatedChain;
  let server: FloodgateProcess;
  beforeAll(async () => {
    chain = await startReplicatedChain(1);
    server = await startFloodgateProcess({
      upstream: chain.nodes.map(({ url }) => url),
      args,
      config: { gateway: { webSocket: { maxSubscriptionsPerAddress: 10_000 } } },
      env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await chain?.stop();
  });

  const call = (localAddress: string, method: string, ...params: unknown[]) =>
    // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
    new Promise<any>((resolve, reject) => {
      const headers = { 'content-type': 'application/json' };
      request(server.gatewayUrl, { method: 'POST', localAddress, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        response.on('end', () => resolve(JSON.parse(text)));
      })
        .on('error', reject)
        .end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    });
  const open = async (number: number): Promise<WebSocketClient> => {
    const client = await openWebSocket(server.gatewayUrl, {}, { localAddress: clientAddress(number) });
    onTestFinished(() => client.close());
    return client;
  };
  const usedBytes = async (): Promise<number> => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^floodgate_gateway_filter_bytes (\S+)$/m.exec(metrics)?.[1]);
  };
  const isFree = (): Promise<unknown> =>
    until('the filter memory to be released', async () => (await usedBytes()) === 0);

  it('charge an address or topic that a filter lists 1,000 times only once, for filters of two clients', async () => {
    const ids: string[] = [];
    await forEach(FILTERS, async (number) => {
      const { result, error } = await call(clientAddress(1 + (number % 2)), 'eth_newFilter', DUPLICATES);
      expect(error).toBeUndefined();
      ids.push(result);
    });
    expect(await usedBytes()).toBeLessThan(2 * MIB);
    await forEach(FILTERS, async (number) => {
      expect((await call(clientAddress(1), 'eth_uninstallFilter', ids[number])).result).toBe(true);
    });
    await isFree();
  });

  it('charge an address or topic that a filter lists 1,000 times only once, for subscriptions to logs', async () => {
    const client = await open(1);
    await forEach(SUBSCRIPTIONS, async () => {
      expect((await client.call('eth_subscribe', 'logs', DUPLICATES)).result).toMatch(/^0x/);
    });
    expect(await usedBytes()).toBeLessThan(2 * MIB);
    client.close();
    await isFree();
  });

  it('are rejected with -32005 above 1 MiB for all connections of one client to a process, but not for other clients', async () => {
    const clients = await Promise.all(Array.from({ length: AT_ONCE }, () => open(1)));
    let accepted = 0;
    await forEach(REFUSED, async (number) => {
      const client = clients[number % AT_ONCE] as WebSocketClient; // the index is below AT_ONCE
      const { result, error } = await client.call('eth_subscribe', 'logs', distinct());
      if (result !== undefined) accepted++;
      else expect(error).toMatchObject({ code: -32005, data: { limit: MIB } });
    });
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThanOrEqual(workers);
    // A filter of the same client still fits.
    const filter = await call(clientAddress(1), 'eth_newFilter', {
      address: Array.from({ length: 150 }, () => hex(20)),
    });
    expect(filter.result).toMatch(/^0x/);
    const other = await open(2);
    expect((await other.call('eth_subscribe', 'logs', distinct())).result).toMatch(/^0x/);
    for (const client of [...clients, other]) client.close();
    expect((await call(clientAddress(1), 'eth_uninstallFilter', filter.result)).result).toBe(true);
    await isFree();
  });

  it('are rejected with -32005 if 100 clients use as much as possible of 64 MiB, and leave memory to another client', async () => {
    const clients: WebSocketClient[] = [];
    let refused = 0;
    await forEach(CLIENTS, async (number) => {
      const client = await open(number + 1);
      clients.push(client);
      const { error } = await client.call('eth_subscribe', 'logs', distinct());
      if (error === undefined) return;
      refused++;
      expect(error).toMatchObject({
        code: -32005,
        message: expect.stringMatching(/of one address: at most/),
      });
    });
    expect(refused).toBeGreaterThan(0);
    expect(await usedBytes()).toBeGreaterThan(totalBytes / 2);
    expect(await usedBytes()).toBeLessThanOrEqual(64 * MIB);
    const other = await open(CLIENTS + 1);
    clients.push(other);
    const filter = { address: Array.from({ length: 20 }, () => hex(20)), topics: [hex(32)] };
    for (let i = 0; i < 2; i++)
      expect((await other.call('eth_subscribe', 'logs', filter)).result).toMatch(/^0x/);
    for (const client of clients) client.close();
    await isFree();
    expect((await call(clientAddress(1), 'eth_chainId')).result).toMatch(/^0x/);
  });
});
