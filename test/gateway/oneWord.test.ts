import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startInProcess } from '../support/startInProcess.ts';
import { until } from '../support/until.ts';
import { type SameChain, startSameChain } from './support/sameChain.ts';
import { type Answer, call } from './support/send.ts';
import { type Spoil, type SpoiltNode, startSpoiltNode } from './support/spoiltNode.ts';

/** anvil takes the block so many below its head for final. */
const BLOCKS = 70;
const FINAL = '0x2';
const LIE = '0xbad';
/** Polls have other ids. */
const isRelayed = (body: string): boolean => body.startsWith('{"jsonrpc":"2.0","id":1,');
const answering =
  (result: string): Spoil =>
  ({ methods, body }, answer) =>
    isRelayed(body) && methods[0] === 'eth_getBalance'
      ? `{"jsonrpc":"2.0","id":1,"result":"${result}"}`
      : answer();
const failing: Spoil = ({ methods, body }, answer) =>
  isRelayed(body) && methods[0] === 'eth_getBalance'
    ? '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"missing trie node"}}'
    : answer();

describe('the word of one node', () => {
  let chain: SameChain;
  let nodes: [SpoiltNode, SpoiltNode, SpoiltNode];
  const stops: (() => Promise<void>)[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-word-'));
  let next = 0x1000;
  const fresh = (): string => `0x${(next++).toString(16).padStart(40, '0')}`;

  beforeAll(async () => {
    chain = await startSameChain(1);
    await chain.grow(BLOCKS);
    const url = chain.nodes[0]?.url ?? '';
    nodes = await Promise.all([startSpoiltNode(url), startSpoiltNode(url), startSpoiltNode(url)]);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    for (const node of nodes) node.spoil = undefined;
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await chain?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(count: number, flags: Readonly<Record<string, string | string[]>> = {}) {
    const upstream = nodes.slice(0, count).map(({ url }) => url);
    // Of a development chain nothing is kept for good.
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

  it('is kept for good where a second node says the same, and outlives a restart', async () => {
    const onDisk = { dataDir, 'gateway.cacheMemoryBytes': '0' };
    const address = fresh();
    const first = await start(2, onDisk);
    await until('it is on disk', async () => cacheOf(await first.balance(address)) === 'hit');
    await first.stop();
    for (const node of nodes) node.spoil = failing;
    const second = await start(2, onDisk);
    await until('it is found', async () => cacheOf(await second.balance(address)) === 'hit');
    await second.stop();
  });

  it('is not kept where a second node contradicts it, and never reaches the disk', async () => {
    const server = await start(2, { dataDir });
    for (const node of nodes) node.spoil = answering(LIE);
    nodes[1].spoil = answering('0x0');
    const addresses = Array.from({ length: 20 }, fresh);
    let lied: string[] = [];
    await until('the liar was asked', async () => {
      const told = await Promise.all(addresses.map(server.balance));
      lied = [...lied, ...addresses.filter((_, i) => told[i]?.json.result === LIE)];
      for (const [i] of addresses.entries()) addresses[i] = fresh();
      return lied.length > 0;
    });
    nodes[0].spoil = answering('0x0');
    await until('no false answer is served any more', async () => {
      const answers = await Promise.all(lied.map(server.balance));
      return answers.every(({ json }) => json.result === '0x0');
    });
    const text = await (await fetch(new URL('/metrics', server.gatewayUrl))).text();
    expect(text).toMatch(/upstream_disagreements_total\{.*node="node-1".*\} [1-9]/);
  });

  it('of a single node is kept for the time that is configured, in memory alone', async () => {
    const address = fresh();
    const long = await start(1, { dataDir });
    expect(cacheOf(await long.balance(address))).toBe('miss');
    expect(cacheOf(await long.balance(address))).toBe('hit');
    await long.stop();
    const short = await start(1, { dataDir, 'gateway.cacheUnconfirmedMs': '1' });
    expect(cacheOf(await short.balance(address))).toBe('miss');
    await until('its time is over', async () => cacheOf(await short.balance(address)) === 'miss');
  });

  it('is gone when the node is caught lying about something else', async () => {
    const server = await start(2);
    nodes[0].spoil = answering(LIE);
    nodes[1].spoil = failing;
    const address = fresh();
    await until('the lie is believed', async () => (await server.balance(address)).json.result === LIE);
    expect(cacheOf(await server.balance(address))).toBe('hit');
    nodes[0].spoil = async (request, answer) => {
      const text = await answer();
      return request.body.startsWith('[')
        ? text
        : text.replace(/"stateRoot":"0x[0-9a-f]{8}/, '"stateRoot":"0x00000000');
    };
    nodes[1].spoil = undefined;
    for (let number = 3; number < BLOCKS; number++)
      await call(server.gatewayUrl, 'eth_getBlockByNumber', number, false);
    expect((await server.balance(address)).json.result).toBe('0x0');
  });

  it('is not enough for methods that need agreement: the answer is what most say, and none where they differ', async () => {
    const flags = { 'gateway.agreement.methods': ['eth_getBalance'] };
    const server = await start(3, flags);
    nodes[0].spoil = answering(LIE);
    for (let i = 0; i < 20; i++) expect((await server.balance(fresh())).json.result).toBe('0x0');
    nodes[1].spoil = answering('0x7');
    expect(await server.balance(fresh())).toMatchObject({
      status: 503,
      json: { error: { code: -32603, data: { reason: 'noAgreement' } } },
    });
    nodes[1].spoil = failing;
    expect((await server.balance(fresh())).json.error.data).toEqual({ reason: 'noAgreement' });
    await expect(start(1, flags)).rejects.toThrow(/agreement.*one: name two or more/);
  });
});
