import { createPublicClient, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { KEY } from './support/contract.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';
import { openWebSocket, type WebSocketClient } from './support/webSocketClient.ts';

const SUBSCRIBERS = 1_000;
const SENDER = privateKeyToAccount(KEY).address.toLowerCase();
const account = (i: number): Hex => `0x${i.toString(16).padStart(40, 'c')}`;
const ADDRESS = account(1);

describe('a subscription to traces', () => {
  let anvil: Anvil;
  let node: InterceptedNode;
  let floodgate: Floodgate;
  const open: WebSocketClient[] = [];

  beforeAll(async () => {
    anvil = await startAnvil();
    node = await startInterceptedNode(anvil.url);
    floodgate = await startFloodgate({
      upstream: node.url,
      config: {
        index: { finality: 'none', pollIntervalMs: 100 },
        gateway: { webSocket: { maxSubscriptionsPerAddress: SUBSCRIBERS } },
      },
    });
  });
  afterAll(async () => {
    for (const client of open) client.close();
    await floodgate?.stop();
    await node?.stop();
    await anvil?.stop();
  });

  /** Sends `value` wei in a new block. */
  async function pay(to: Hex, value: bigint): Promise<void> {
    const transport = http(anvil.url);
    const wallet = createWalletClient({ account: privateKeyToAccount(KEY), chain: foundry, transport });
    const hash = await wallet.sendTransaction({ to, value });
    await connect(anvil.url).call('evm_mine');
    const reader = createPublicClient({ chain: foundry, transport, pollingInterval: 20 });
    await reader.waitForTransactionReceipt({ hash });
  }
  async function opened(): Promise<WebSocketClient> {
    const client = await openWebSocket(floodgate.gatewayUrl);
    open.push(client);
    return client;
  }
  async function subscribed(filter: object): Promise<() => { value: number; removed: boolean }[]> {
    const client = await opened();
    const { result } = await client.call('eth_subscribe', 'traces', filter);
    expect(result).toMatch(/^0x/);
    return () =>
      client.notificationsOf(result).map(({ action, removed }) => ({ value: Number(action.value), removed }));
  }
  const values = (reported: () => { value: number }[]): number[] => reported().map(({ value }) => value);

  it('pushes matching traces once and in order, in the form of trace_filter, without node requests', async () => {
    const client = await opened();
    const { result: id } = await client.call('eth_subscribe', 'traces', { address: ADDRESS });
    const paid = await subscribed({ address: [ADDRESS, account(2), SENDER], direction: 'to', minValue: 2 });
    const sent = await subscribed({ address: [SENDER, ADDRESS] });
    const inside = await subscribed({ address: ADDRESS, internal: true });
    const before = ['eth_getBlockByHash', 'eth_getLogs'].map((method) => node.counts.get(method));
    await pay(ADDRESS, 1n);
    await pay(account(2), 2n);
    await pay(ADDRESS, 3n);
    await until('all matching traces', () => values(sent).length === 3 && values(paid).length === 2);
    expect([values(sent), values(paid)]).toEqual([
      [1, 2, 3],
      [2, 3],
    ]);
    expect(inside()).toEqual([]);
    const { json } = await call(floodgate.gatewayUrl, 'floodgate_addressTraces', {
      address: ADDRESS,
      order: 'asc',
    });
    expect(json.result.traces).toHaveLength(2);
    expect(client.notificationsOf(id)).toEqual(
      json.result.traces.map((trace: object) => ({ ...trace, removed: false })),
    );
    expect(['eth_getBlockByHash', 'eth_getLogs'].map((method) => node.counts.get(method))).toEqual(before);
    expect((await client.call('eth_unsubscribe', id)).result).toBe(true);
  });

  it('pushes removed traces of a reorganisation once, newest first, before the new traces', async () => {
    const early = await subscribed({ address: ADDRESS });
    const snapshot = await connect(anvil.url).call('evm_snapshot');
    await pay(ADDRESS, 10n);
    await until('the first trace', () => early().length === 1);
    const late = await subscribed({ address: ADDRESS });
    await pay(ADDRESS, 11n);
    await until('the second trace', () => early().length === 2 && late().length === 1);
    await connect(anvil.url).call('evm_revert', snapshot);
    await connect(anvil.url).call('evm_increaseTime', 1_000);
    for (const value of [20n, 21n, 22n]) await pay(ADDRESS, value);
    await until(
      'the traces of the new branch',
      () => values(early).includes(22) && values(late).includes(22),
    );
    const [taken, isNew] = [{ removed: true }, { removed: false }];
    expect(early()).toEqual([
      { value: 10, ...isNew },
      { value: 11, ...isNew },
      { value: 11, ...taken },
      { value: 10, ...taken },
      { value: 20, ...isNew },
      { value: 21, ...isNew },
      { value: 22, ...isNew },
    ]);
    // Traces that it never received are not sent with removed: true.
    expect(late().filter(({ removed }) => removed)).toEqual([{ value: 11, removed: true }]);
  });

  it('is rejected with the errors of floodgate_addressTraces, and for members of ranges and pages', async () => {
    const client = await opened();
    const addresses = Array.from({ length: 21 }, (_, i) => account(i));
    const bad: readonly unknown[] = [
      'x',
      [],
      {},
      { address: [] },
      { address: '0x12' },
      { address: [ADDRESS, 5] },
      { address: addresses },
      { address: ADDRESS, direction: 'both' },
      { address: ADDRESS, types: ['swap'] },
      { address: ADDRESS, callTypes: [] },
      { address: ADDRESS, minValue: '10' },
      { address: ADDRESS, internal: 'true' },
      { address: ADDRESS, failed: 1 },
    ];
    for (const filter of bad) {
      const { error } = await client.call('eth_subscribe', 'traces', filter);
      const { json } = await call(floodgate.gatewayUrl, 'floodgate_addressTraces', filter);
      const message = json.error.message.replace('params[0] (history)', 'params[1] (filter)');
      expect(error).toEqual({ ...json.error, message });
    }
    for (const member of ['fromBlock', 'order', 'limit', 'cursor', 'adress']) {
      const { error } = await client.call('eth_subscribe', 'traces', { address: ADDRESS, [member]: 1 });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(`"${member}"`) });
    }
    for (const more of [[], [null], [{ address: ADDRESS }, 1]])
      expect((await client.call('eth_subscribe', 'traces', ...more)).error.code).toBe(-32602);
  });

  it('reaches 1,000 subscribers of one address and rejects one more', async () => {
    for (const client of open.splice(0)) client.close();
    const clients = await until('all subscriptions to be accepted', async () => {
      const tried = await Promise.all(Array.from({ length: 10 }, opened));
      const ids = await Promise.all(
        tried.flatMap((client) =>
          Array.from({ length: SUBSCRIBERS / 10 }, async () => {
            // With two addresses each, these filters would exceed the 1 MiB budget of one client.
            const { result } = await client.call('eth_subscribe', 'traces', { address: ADDRESS });
            return { client, id: result as string | undefined };
          }),
        ),
      );
      if (ids.every(({ id }) => id !== undefined)) return ids;
      for (const client of tried) client.close();
      return undefined;
    });
    const { error } = await (await opened()).call('eth_subscribe', 'traces', { address: ADDRESS });
    expect(error).toMatchObject({ code: -32005, data: { limit: SUBSCRIBERS, requested: SUBSCRIBERS + 1 } });
    for (const value of [31n, 32n, 33n]) await pay(ADDRESS, value);
    await until('all subscribers to receive three traces', () =>
      clients.every(({ client, id }) => client.notificationsOf(id ?? '').length === 3),
    );
    for (const { client, id } of clients)
      expect(client.notificationsOf(id ?? '').map(({ action }) => Number(action.value))).toEqual([
        31, 32, 33,
      ]);
  });
});
