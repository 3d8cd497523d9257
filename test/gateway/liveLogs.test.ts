import { type Contract, Contract as EthersContract, WebSocketProvider } from 'ethers';
import { createPublicClient, createWalletClient, type Hex, http, type Log, webSocket } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { ABI, BYTECODE, KEY } from './support/contract.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';
import { openWebSocket, type WebSocketClient, webSocketUrl } from './support/webSocketClient.ts';

const SET = '0xdf7a95aebff315db1b7716215d602ab537373cdb769232aae6055c06e798425b';

describe('a subscription to logs', () => {
  let anvil: Anvil;
  let node: InterceptedNode;
  let floodgate: Floodgate;
  let address: Hex;
  let other: Hex;
  const open: WebSocketClient[] = [];

  beforeAll(async () => {
    anvil = await startAnvil();
    node = await startInterceptedNode(anvil.url);
    floodgate = await startFloodgate({
      upstream: node.url,
      config: { index: { finality: 'none', pollIntervalMs: 100 } },
    });
    [address, other] = [await deployed(), await deployed()];
  });
  afterAll(async () => {
    for (const client of open) client.close();
    await floodgate?.stop();
    await node?.stop();
    await anvil?.stop();
  });

  const chain = () => {
    const transport = http(anvil.url);
    return {
      reader: createPublicClient({ chain: foundry, transport, pollingInterval: 20 }),
      wallet: createWalletClient({ account: privateKeyToAccount(KEY), chain: foundry, transport }),
    };
  };
  async function deployed(): Promise<Hex> {
    const { reader, wallet } = chain();
    const hash = await wallet.deployContract({ abi: ABI, bytecode: BYTECODE });
    await connect(anvil.url).call('evm_mine');
    return (await reader.waitForTransactionReceipt({ hash })).contractAddress as Hex; // present after a deployment
  }
  async function set(contract: Hex, value: bigint): Promise<void> {
    const { reader, wallet } = chain();
    const hash = await wallet.writeContract({
      address: contract,
      abi: ABI,
      functionName: 'set',
      args: [value],
    });
    await connect(anvil.url).call('evm_mine');
    await reader.waitForTransactionReceipt({ hash });
  }
  async function subscribed(filter?: object): Promise<() => { value: number; removed: boolean }[]> {
    const client = await openWebSocket(floodgate.gatewayUrl);
    open.push(client);
    const { result } = await client.call('eth_subscribe', 'logs', ...(filter === undefined ? [] : [filter]));
    expect(result).toMatch(/^0x/);
    return () =>
      client.notificationsOf(result).map(({ data, removed }) => ({ value: Number(data), removed }));
  }
  async function connections(): Promise<number> {
    const text = await (await fetch(`${floodgate.url}/metrics`)).text();
    return Number(/^floodgate_gateway_websocket_connections (\d+)$/m.exec(text)?.[1]);
  }
  /** Waits until the gateway has polled the head of the node. Calls of eth_blockNumber do not show that. */
  async function hasNewestHead(): Promise<void> {
    const height = Number(await connect(anvil.url).call('eth_blockNumber'));
    await until('a poll of the new head', async () => {
      const text = await (await fetch(`${floodgate.url}/metrics`)).text();
      return Number(/^floodgate_upstream_head_block\{.*\} (\d+)$/m.exec(text)?.[1]) === height;
    });
  }
  const values = (reported: () => { value: number }[]): number[] => reported().map(({ value }) => value);

  it('pushes the logs of all new blocks of a reorganisation, also below the head at its start', async () => {
    const before = await connect(anvil.url).call('evm_snapshot');
    // The gateway knows the ancestors of the head, because it sees each of them as the head.
    await hasNewestHead();
    for (const value of [1n, 2n, 3n]) {
      await set(address, value);
      await hasNewestHead();
    }
    const reported = await subscribed({ address });
    await connect(anvil.url).call('evm_revert', before);
    await connect(anvil.url).call('evm_increaseTime', 1_000);
    for (const value of [4n, 5n, 6n]) await set(address, value);
    await until('the logs of the new branch', () => values(reported).includes(6));
    expect(values(reported)).toEqual([4, 5, 6]);
    for (const client of open.splice(0)) client.close();
    await until('the subscription to end', async () => (await connections()) === 0);
  });

  it('pushes matching logs once and in order, with one node request per block', async () => {
    const all = await subscribed();
    const ofOne = await subscribed({ address });
    const ofBoth = await subscribed({ address: [address, other], topics: [[SET, null]] });
    const ofNone = await subscribed({ topics: [`0x${'00'.repeat(32)}`] });
    const ofTwoTopics = await subscribed({ address, topics: [null, null] });
    // go-ethereum's client sends fromBlock and toBlock with every subscription.
    const open = await subscribed({ address, fromBlock: '0x0', toBlock: 'latest' });
    const past = await subscribed({ address, toBlock: '0x1' });
    const before = node.counts.get('eth_getLogs') ?? 0;
    for (const value of [1n, 2n, 3n]) await set(value === 2n ? other : address, value);
    await until('all three logs', () => values(all).length === 3 && values(ofBoth).length === 3);
    await until('the logs of one contract', () => values(ofOne).length === 2);
    expect([values(all), values(ofOne), values(ofBoth)]).toEqual([
      [1, 2, 3],
      [1, 3],
      [1, 2, 3],
    ]);
    await until('the logs of the subscription with open bounds', () => values(open).length === 2);
    expect([ofNone(), ofTwoTopics(), past()]).toEqual([[], [], []]);
    expect((node.counts.get('eth_getLogs') ?? 0) - before).toBe(3);
  });

  it('pushes removed logs of a reorganisation once, newest first, before the new logs', async () => {
    const early = await subscribed({ address });
    const snapshot = await connect(anvil.url).call('evm_snapshot');
    await set(address, 10n);
    await until('the first log', () => early().length === 1);
    const late = await subscribed({ address });
    await set(address, 11n);
    await until('the second log', () => early().length === 2 && late().length === 1);
    await connect(anvil.url).call('evm_revert', snapshot);
    await connect(anvil.url).call('evm_increaseTime', 1_000);
    for (const value of [20n, 21n, 22n]) await set(address, value);
    await until('the logs of the new branch', () => values(early).includes(22) && values(late).includes(22));
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
    // Logs that it never received are not sent with removed: true.
    expect(late().filter(({ removed }) => removed)).toEqual([{ value: 11, removed: true }]);
  });

  it('waits if a node has a block but not yet its logs', async () => {
    const reported = await subscribed({ address });
    let empty = 0;
    node.intercept = ({ methods }, answer) => {
      if (!methods.includes('eth_getLogs') || ++empty > 1) return answer();
      return '{"jsonrpc":"2.0","id":1,"result":[]}';
    };
    await set(address, 30n);
    await set(address, 31n);
    await until('both logs', () => values(reported).length === 2);
    node.intercept = undefined;
    expect(values(reported)).toEqual([30, 31]);
    expect(empty).toBeGreaterThan(1);
  });

  it('delays no header while logs are unavailable, and omits the logs of a block that is replaced in between', async () => {
    const reported = await subscribed({ address });
    const client = await openWebSocket(floodgate.gatewayUrl);
    open.push(client);
    const { result: heads } = await client.call('eth_subscribe', 'newHeads');
    const order: string[] = [];
    client.socket.on('message', (text) => {
      const { params } = JSON.parse(String(text));
      if (params !== undefined) order.push(params.subscription === heads ? 'head' : 'log');
    });
    await client.call('eth_subscribe', 'logs', { address });
    const snapshot = await connect(anvil.url).call('evm_snapshot');
    let refused = 0;
    node.intercept = ({ methods }, answer) => {
      if (!methods.includes('eth_getLogs')) return answer();
      refused++;
      return '{"jsonrpc":"2.0","id":1,"result":[]}';
    };
    await set(address, 50n);
    await set(address, 51n);
    const headOf = async (): Promise<string> =>
      (await connect(anvil.url).call<{ hash: string }>('eth_getBlockByNumber', 'latest', false)).hash;
    const hasHead = (hash: string) => () => client.notificationsOf(heads).at(-1)?.hash === hash;
    await until('the headers without logs', hasHead(await headOf()));
    await until('a request for logs', () => refused > 0);
    await connect(anvil.url).call('evm_revert', snapshot);
    await connect(anvil.url).call('evm_increaseTime', 1_000);
    for (const value of [60n, 61n, 62n]) await set(address, value);
    await until('the headers of the new branch', hasHead(await headOf()));
    expect(reported()).toEqual([]);
    node.intercept = undefined;
    await until('the logs of the new branch', () => reported().length === 3 && order.includes('log'));
    const isNew = { removed: false };
    expect(reported()).toEqual([
      { value: 60, ...isNew },
      { value: 61, ...isNew },
      { value: 62, ...isNew },
    ]);
    // All headers came before the first log.
    expect(order.lastIndexOf('head')).toBeLessThan(order.indexOf('log'));
  });

  it.each([
    { filter: { address: '0x1' }, says: 'address' },
    { filter: { blockHash: `0x${'00'.repeat(32)}` }, says: 'blockHash' },
    { filter: { fromBlock: '0x2', toBlock: '0x1' }, says: 'fromBlock' },
    { filter: { topics: [1] }, says: 'topics[0]' },
    { filter: { address: Array.from({ length: 1_001 }, () => `0x${'11'.repeat(20)}`) }, says: '1000' },
    { filter: 'all', says: 'params[1]' },
  ])('is rejected with -32602 if its filter has an invalid $says', async ({ filter, says }) => {
    const client = await openWebSocket(floodgate.gatewayUrl);
    open.push(client);
    const { error } = await client.call('eth_subscribe', 'logs', filter);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(says) });
  });

  it('works in viem (watchEvent, watchContractEvent) and ethers (Contract.on)', async () => {
    const url = webSocketUrl(floodgate.gatewayUrl);
    const viem = createPublicClient({ chain: foundry, transport: webSocket(url, { reconnect: false }) });
    const [events, ofContract, numbers]: [Log[], bigint[], bigint[]] = [[], [], []];
    const unwatch = [
      viem.watchEvent({ address, onLogs: (logs) => void events.push(...logs) }),
      viem.watchContractEvent({
        address,
        abi: ABI,
        eventName: 'Set',
        onLogs: (logs) => void ofContract.push(...logs.map(({ args }) => args.value ?? 0n)),
      }),
    ];
    const provider = new WebSocketProvider(url);
    const contract: Contract = new EthersContract(address, ABI, provider);
    await contract.on('Set', (value: bigint) => numbers.push(value));
    await until('all three subscriptions to receive logs', async () => {
      await set(address, 40n);
      return events.length > 0 && ofContract.length > 0 && numbers.length > 0;
    });
    await set(address, 42n);
    await until(
      'viem to receive the log of 42',
      () => ofContract.at(-1) === 42n && events.at(-1)?.data.endsWith('2a') === true,
    );
    await until('ethers to receive the log of 42', () => numbers.at(-1) === 42n);
    for (const end of unwatch) end();
    await provider.destroy();
    const { json } = await call(floodgate.gatewayUrl, 'eth_chainId');
    expect(json.result).toBe('0x7a69');
  });
});
