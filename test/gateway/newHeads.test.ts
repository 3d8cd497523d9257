import { WebSocketProvider } from 'ethers';
import { type Block, createPublicClient, webSocket } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type SharedChain, startSharedChain } from '../support/sharedChain.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';
import { openWebSocket, type WebSocketClient, webSocketUrl } from './support/webSocketClient.ts';

const SUBSCRIBERS = 1_000;
const LONG = 'x'.repeat(20_000);

/** Returns the node's response with headers that are too long to be kept from a poll. */
const withLongHeaders = async (answer: () => Promise<string>): Promise<string> =>
  (await answer()).replaceAll('"parentHash"', `"long":"${LONG}","parentHash"`);

describe('eth_subscribe', () => {
  let chain: SharedChain;
  let node: InterceptedNode;
  let floodgate: Floodgate;
  const open: WebSocketClient[] = [];

  beforeAll(async () => {
    chain = await startSharedChain();
    node = await startInterceptedNode(chain.anvil.url);
    floodgate = await startFloodgate({
      upstream: node.url,
      config: {
        index: { finality: 'none', pollIntervalMs: 100 },
        gateway: {
          webSocket: {
            maxConnectionsPerAddress: SUBSCRIBERS + 100,
            maxSubscriptionsPerAddress: SUBSCRIBERS + 200,
          },
        },
      },
      tuning: { webSocket: { maxUnsentBytes: 64 * 1024 } },
    });
  });
  afterAll(async () => {
    for (const client of open) client.close();
    await floodgate?.stop();
    await node?.stop();
    await chain?.anvil.stop();
  });

  const anvil = () => connect(chain.anvil.url);
  const mine = async (blocks: number): Promise<void> => {
    for (let i = 0; i < blocks; i++) await anvil().call('evm_mine');
  };
  const latest = (): Promise<{ number: string; hash: string; parentHash: string }> =>
    anvil().call('eth_getBlockByNumber', 'latest', false);
  async function opened(): Promise<WebSocketClient> {
    const client = await openWebSocket(floodgate.gatewayUrl);
    open.push(client);
    return client;
  }
  async function subscribed(...params: unknown[]): Promise<{ client: WebSocketClient; id: string }> {
    const client = await opened();
    const { result } = await client.call('eth_subscribe', ...params);
    return { client, id: result };
  }

  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${floodgate.url}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length));
  };

  it('pushes the header of every new block once and in order, also if 12 blocks are mined at once', async () => {
    const { client, id } = await subscribed('newHeads');
    const first = Number((await latest()).number) + 1;
    await mine(12);
    const head = await latest();
    await until('the last head', () => client.notificationsOf(id).at(-1)?.hash === head.hash);
    const heads = client.notificationsOf(id);
    expect(heads.map(({ number }) => Number(number))).toEqual(
      Array.from({ length: 12 }, (_, i) => first + i),
    );
    const { json } = await call(floodgate.gatewayUrl, 'eth_getBlockByHash', head.hash, false);
    expect(json.result).toMatchObject(heads.at(-1));
    expect(heads.at(-1)).not.toHaveProperty('transactions');
    expect(heads.at(-1)).toHaveProperty('logsBloom');
  });

  it('pushes the heads of the new branch after a reorganisation', async () => {
    const snapshot = await anvil().call('evm_snapshot');
    const { client, id } = await subscribed('newHeads');
    await mine(3);
    const old = await latest();
    await until('the head of the old branch', () => client.notificationsOf(id).at(-1)?.hash === old.hash);
    await anvil().call('evm_revert', snapshot);
    await anvil().call('evm_increaseTime', 1_000);
    await mine(4);
    const head = await latest();
    await until('the head of the new branch', () => client.notificationsOf(id).at(-1)?.hash === head.hash);
    const heads = client.notificationsOf(id);
    expect(new Set(heads.map(({ hash }) => hash)).size).toBe(heads.length);
    const branch = heads.slice(3);
    expect(branch).toHaveLength(4);
    for (const [i, { number, parentHash }] of branch.entries())
      if (i > 0)
        expect({ number: Number(number), parentHash }).toEqual({
          number: Number(branch[i - 1].number) + 1,
          parentHash: branch[i - 1].hash,
        });
    expect(branch[0].parentHash).toBe(heads[0].parentHash);
  });

  it('retries if a node does not return a new block at first', async () => {
    const { client, id } = await subscribed('newHeads');
    let refused = 0;
    node.intercept = ({ methods }, answer) => {
      if (methods.includes('eth_getBlockByNumber')) return withLongHeaders(answer);
      if (!methods.includes('eth_getBlockByHash') || ++refused > 2) return answer();
      return '{"jsonrpc":"2.0","id":1,"result":null}';
    };
    await mine(1);
    await until('the head after the retry', () => client.notificationsOf(id).length === 1);
    node.intercept = undefined;
    expect(refused).toBeGreaterThan(1);
  });

  it('requests a header that is too long to be kept from the poll', async () => {
    const { client, id } = await subscribed('newHeads');
    const before = node.counts.get('eth_getBlockByHash') ?? 0;
    node.intercept = ({ methods }, answer) =>
      methods.includes('eth_getBlockByNumber') ? withLongHeaders(answer) : answer();
    await mine(1);
    await until('the head', () => client.notificationsOf(id).length === 1);
    node.intercept = undefined;
    expect((node.counts.get('eth_getBlockByHash') ?? 0) - before).toBe(1);
    expect(client.notificationsOf(id)[0]).not.toHaveProperty('long');
  });

  it('ends a subscription with eth_unsubscribe on its own connection only', async () => {
    const { client, id } = await subscribed('newHeads');
    const other = await subscribed('newHeads');
    expect((await other.client.call('eth_unsubscribe', id)).result).toBe(false);
    expect((await client.call('eth_unsubscribe', id)).result).toBe(true);
    expect((await client.call('eth_unsubscribe', id)).result).toBe(false);
    await mine(1);
    await until(
      'the head on the other connection',
      () => other.client.notificationsOf(other.id).length === 1,
    );
    expect(client.notificationsOf(id)).toEqual([]);
  });

  it.each([
    { params: ['newPendingTransactions'], code: -32602, says: 'newPendingTransactions' },
    { params: ['syncing'], code: -32602, says: '"newHeads"' },
    { params: [], code: -32602, says: 'missing' },
    { params: ['newHeads', {}], code: -32602, says: 'newHeads' },
  ])('is rejected with $params', async ({ params, code, says }) => {
    const { error } = await (await opened()).call('eth_subscribe', ...params);
    expect(error).toMatchObject({ code, message: expect.stringContaining(says) });
  });

  it('is not served over HTTP', async () => {
    expect(await call(floodgate.gatewayUrl, 'eth_subscribe', 'newHeads')).toMatchObject({
      status: 403,
      json: { error: { code: -32601 } },
    });
  });

  it('sends 1,000 subscribers the header that the poll returned, without another request', async () => {
    const clients = await Promise.all(Array.from({ length: SUBSCRIBERS }, () => subscribed('newHeads')));
    await mine(1);
    await until('all subscribers to receive a head', () =>
      clients.every(({ client, id }) => client.notificationsOf(id).length > 0),
    );
    const before = node.counts.get('eth_getBlockByHash') ?? 0;
    for (let i = 0; i < 3; i++) {
      await mine(1);
      const head = await latest();
      await until('all subscribers to receive the head', () =>
        clients.every(({ client, id }) => client.notificationsOf(id).at(-1)?.hash === head.hash),
      );
    }
    expect((node.counts.get('eth_getBlockByHash') ?? 0) - before).toBe(0);
    for (const { client } of clients) client.close();
    await until(
      'the subscriptions to end',
      async () => (await metric('floodgate_gateway_subscriptions')) < SUBSCRIBERS,
    );
  });

  it('closes the connection of a slow reader with 1008 and a reason, and serves the others', async () => {
    const other = await subscribed('newHeads');
    const slow = await opened();
    for (let i = 0; i < 100; i++) await slow.call('eth_subscribe', 'newHeads');
    slow.socket.pause();
    await until('the slow reader to be closed', async () => {
      await mine(5);
      return (await metric('floodgate_gateway_websocket_closes_total{reason="slow"}')) === 1;
    });
    slow.socket.resume();
    expect(await slow.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('slow') });
    const head = await latest();
    await until(
      'the last head on the other connection',
      () => other.client.notificationsOf(other.id).at(-1)?.hash === head.hash,
    );
  });

  it('works in viem (watchBlocks) and ethers (WebSocketProvider)', async () => {
    const url = webSocketUrl(floodgate.gatewayUrl);
    const before = await metric('floodgate_gateway_subscriptions');
    const viem = createPublicClient({ transport: webSocket(url, { reconnect: false }) });
    const blocks: Block[] = [];
    const unwatch = viem.watchBlocks({ onBlock: (block) => void blocks.push(block as Block) });
    const ethers = new WebSocketProvider(url);
    const numbers: number[] = [];
    await ethers.on('block', (number: number) => numbers.push(number));
    await until(
      'both libraries to be subscribed',
      async () => (await metric('floodgate_gateway_subscriptions')) >= before + 2,
    );
    await mine(3);
    const last = Number((await latest()).number);
    await until('viem to receive three blocks', () => blocks.length === 3);
    await until('ethers to receive three blocks', () => numbers.length === 3);
    // viem requests each block separately, so the responses may arrive in any order.
    expect(blocks.map(({ number }) => Number(number)).sort()).toEqual([last - 2, last - 1, last]);
    expect(numbers).toEqual([last - 2, last - 1, last]);
    expect(await viem.getChainId()).toBe(31_337);
    unwatch();
    await ethers.destroy();
    (await viem.transport.getSocket?.())?.close();
  });
});
