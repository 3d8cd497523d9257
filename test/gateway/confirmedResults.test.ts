import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startInProcess } from '../support/startInProcess.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, type Interceptor, startInterceptedNode } from './support/interceptedNode.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { type Answer, call } from './support/send.ts';

/** More than 64 blocks: anvil's `finalized` block is 64 below its head. */
const BLOCKS = 70;
const FINAL = '0x2';
const LIE = '0xbad';
/** Polls use other ids. */
const isRelayed = (body: string): boolean => body.startsWith('{"jsonrpc":"2.0","id":1,');
const answering =
  (result: string): Interceptor =>
  ({ methods, body }, answer) =>
    isRelayed(body) && methods[0] === 'eth_getBalance'
      ? `{"jsonrpc":"2.0","id":1,"result":"${result}"}`
      : answer();
const failing: Interceptor = ({ methods, body }, answer) =>
  isRelayed(body) && methods[0] === 'eth_getBalance'
    ? '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"missing trie node"}}'
    : answer();

describe('the result of one node', () => {
  let chain: ReplicatedChain;
  let nodes: [InterceptedNode, InterceptedNode, InterceptedNode];
  const stops: (() => Promise<void>)[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-word-'));
  let next = 0x1000;
  const fresh = (): string => `0x${(next++).toString(16).padStart(40, '0')}`;

  beforeAll(async () => {
    chain = await startReplicatedChain(1);
    await chain.grow(BLOCKS);
    const url = chain.nodes[0]?.url ?? '';
    nodes = await Promise.all([
      startInterceptedNode(url),
      startInterceptedNode(url),
      startInterceptedNode(url),
    ]);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    for (const node of nodes) node.intercept = undefined;
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await chain?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(count: number, flags: Readonly<Record<string, string | string[]>> = {}) {
    const upstream = nodes.slice(0, count).map(({ url }) => url);
    // Without a finality from the node, results of a development chain are never cached for good.
    const index = { 'index.pollIntervalMs': '100', 'index.finality': 'node' };
    const server = await startInProcess({ upstream, ...index, ...flags }, {});
    let stopped = false;
    const stop = async (): Promise<void> => {
      if (!stopped) await server.stop();
      stopped = true;
    };
    stops.push(stop);
    const balance = (address: string): Promise<Answer> =>
      call(server.gatewayUrl, 'eth_getBalance', address, FINAL);
    return { ...server, stop, balance };
  }
  const cacheOf = ({ headers }: Answer): unknown => headers['x-floodgate-cache'];

  it('is stored on disk if a second node confirms it, and survives a restart', async () => {
    const onDisk = { dataDir, 'gateway.cacheMemoryBytes': '0' };
    const address = fresh();
    const first = await start(2, onDisk);
    await until('the result to be on disk', async () => cacheOf(await first.balance(address)) === 'hit');
    await first.stop();
    for (const node of nodes) node.intercept = failing;
    const second = await start(2, onDisk);
    await until(
      'the stored result to be found',
      async () => cacheOf(await second.balance(address)) === 'hit',
    );
    await second.stop();
  });

  it('is not stored if a second node contradicts it', async () => {
    const server = await start(2, { dataDir });
    for (const node of nodes) node.intercept = answering(LIE);
    nodes[1].intercept = answering('0x0');
    const addresses = Array.from({ length: 20 }, fresh);
    let lied: string[] = [];
    await until('a false result', async () => {
      const reported = await Promise.all(addresses.map(server.balance));
      lied = [...lied, ...addresses.filter((_, i) => reported[i]?.json.result === LIE)];
      for (const [i] of addresses.entries()) addresses[i] = fresh();
      return lied.length > 0;
    });
    nodes[0].intercept = answering('0x0');
    await until('the false results to be replaced', async () => {
      const answers = await Promise.all(lied.map(server.balance));
      return answers.every(({ json }) => json.result === '0x0');
    });
    const text = await (await fetch(new URL('/metrics', server.gatewayUrl))).text();
    expect(text).toMatch(/upstream_disagreements_total\{.*node="node-1".*\} [1-9]/);
  });

  it('is cached in memory but not on disk if there is only one node', async () => {
    const address = fresh();
    const first = await start(1, { dataDir });
    expect(cacheOf(await first.balance(address))).toBe('miss');
    expect(cacheOf(await first.balance(address))).toBe('hit');
    await first.stop();
    const second = await start(1, { dataDir });
    expect(cacheOf(await second.balance(address))).toBe('miss');
  });

  it('is removed from the cache when the node returns another false result', async () => {
    const server = await start(2);
    nodes[0].intercept = answering(LIE);
    nodes[1].intercept = failing;
    const address = fresh();
    await until(
      'the false result to be returned',
      async () => (await server.balance(address)).json.result === LIE,
    );
    expect(cacheOf(await server.balance(address))).toBe('hit');
    nodes[0].intercept = async (request, answer) => {
      const text = await answer();
      return request.body.startsWith('[')
        ? text
        : text.replace(/"stateRoot":"0x[0-9a-f]{8}/, '"stateRoot":"0x00000000');
    };
    nodes[1].intercept = undefined;
    for (let number = 3; number < BLOCKS; number++)
      await call(server.gatewayUrl, 'eth_getBlockByNumber', number, false);
    expect((await server.balance(address)).json.result).toBe('0x0');
  });

  it('is not enough for gateway.agreement.methods: the majority decides, and without one the call fails', async () => {
    const flags = { 'gateway.agreement.methods': ['eth_getBalance'] };
    const server = await start(3, flags);
    nodes[0].intercept = answering(LIE);
    for (let i = 0; i < 20; i++) expect((await server.balance(fresh())).json.result).toBe('0x0');
    nodes[1].intercept = answering('0x7');
    expect(await server.balance(fresh())).toMatchObject({
      status: 503,
      json: { error: { code: -32603, data: { reason: 'noAgreement' } } },
    });
    nodes[1].intercept = failing;
    expect((await server.balance(fresh())).json.error.data).toEqual({ reason: 'noAgreement' });
    await expect(start(1, flags)).rejects.toThrow(/gateway.agreement.methods requires two or more nodes/);
  });
});
