import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Contract, Contract as EthersContract, JsonRpcProvider } from 'ethers';
import { createPublicClient, createWalletClient, type Hex, http, type Log } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { ABI, BYTECODE, KEY } from './support/contract.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';

const NOT_FOUND = { code: -32000, message: expect.stringContaining('filter not found') };

describe('HTTP filters', () => {
  let anvil: Anvil;
  let node: InterceptedNode;
  let floodgate: Floodgate;
  let dataDir: string;
  let address: Hex;

  const start = (): Promise<Floodgate> =>
    startFloodgate({
      upstream: node.url,
      dataDir,
      config: { index: { finality: 'none', pollIntervalMs: 100 } },
    });
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'floodgate-filters-'));
    anvil = await startAnvil();
    node = await startInterceptedNode(anvil.url);
    floodgate = await start();
    const { reader, wallet } = chain();
    const hash = await wallet.deployContract({ abi: ABI, bytecode: BYTECODE });
    await connect(anvil.url).call('evm_mine');
    address = (await reader.waitForTransactionReceipt({ hash })).contractAddress as Hex; // present after a deployment
  });
  afterAll(async () => {
    await floodgate?.stop();
    await node?.stop();
    await anvil?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const chain = () => {
    const transport = http(anvil.url);
    return {
      reader: createPublicClient({ chain: foundry, transport, pollingInterval: 20 }),
      wallet: createWalletClient({ account: privateKeyToAccount(KEY), chain: foundry, transport }),
    };
  };
  async function set(value: bigint): Promise<void> {
    const { reader, wallet } = chain();
    const hash = await wallet.writeContract({ address, abi: ABI, functionName: 'set', args: [value] });
    await connect(anvil.url).call('evm_mine');
    await reader.waitForTransactionReceipt({ hash });
  }
  const ask = async (method: string, ...params: unknown[]) =>
    (await call(floodgate.gatewayUrl, method, ...params)).json;
  /** Polls a filter until `count` changes were received. */
  async function changes(id: string, count: number) {
    const all: { data: string; removed: boolean; blockHash: string }[] = [];
    await until(`${count} filter changes`, async () => {
      const { result, error } = await ask('eth_getFilterChanges', id);
      expect(error).toBeUndefined();
      all.push(...result);
      return all.length >= count;
    });
    return all;
  }
  const valuesOf = (logs: readonly { data: string; removed: boolean }[]) =>
    logs.map(({ data, removed }) => (removed ? -1 : 1) * Number(data));

  it('return each log once and in order without node requests, and removed logs after a reorganisation', async () => {
    const { result: id } = await ask('eth_newFilter', { address });
    expect(id).toMatch(/^0x[1-9a-f][0-9a-f]+$/);
    const { result: none } = await ask('eth_newFilter', { address: `0x${'11'.repeat(20)}` });
    for (const value of [1n, 2n]) await set(value);
    expect(valuesOf(await changes(id, 2))).toEqual([1, 2]);
    const snapshot = await connect(anvil.url).call('evm_snapshot');
    await set(3n);
    expect(valuesOf(await changes(id, 1))).toEqual([3]);
    const before = node.counts.get('eth_getLogs');
    for (let i = 0; i < 5; i++) expect((await ask('eth_getFilterChanges', id)).result).toEqual([]);
    expect(node.counts.get('eth_getLogs')).toBe(before);
    await connect(anvil.url).call('evm_revert', snapshot);
    await connect(anvil.url).call('evm_increaseTime', 1_000);
    for (const value of [4n, 5n]) await set(value);
    expect(valuesOf(await changes(id, 3))).toEqual([-3, 4, 5]);
    expect((await ask('eth_getFilterChanges', none)).result).toEqual([]);
  });

  it('return the hashes of new blocks', async () => {
    const { result: id } = await ask('eth_newBlockFilter');
    await set(6n);
    const { number } = await connect(anvil.url).call<{ number: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    const [first] = await changes(id, 1);
    const { hash } = await connect(anvil.url).call<{ hash: string }>('eth_getBlockByNumber', number, false);
    expect(first).toBe(hash);
    expect((await ask('eth_getFilterLogs', id)).error).toMatchObject(NOT_FOUND);
  });

  it('return all logs of their range, and end when they are uninstalled', async () => {
    const { result: id } = await ask('eth_newFilter', { address, fromBlock: '0x0' });
    const { result } = await ask('eth_getFilterLogs', id);
    expect(result).toEqual((await ask('eth_getLogs', { address, fromBlock: '0x0' })).result);
    expect(result.length).toBeGreaterThan(3);
    expect((await ask('eth_uninstallFilter', id)).result).toBe(true);
    expect((await ask('eth_uninstallFilter', id)).result).toBe(false);
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs'])
      expect((await ask(method, id)).error).toMatchObject(NOT_FOUND);
  });

  it('end when the server restarts', async () => {
    const { result: id } = await ask('eth_newFilter', { address });
    await floodgate.stop();
    floodgate = await start();
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs'])
      expect((await ask(method, id)).error).toMatchObject(NOT_FOUND);
    expect((await ask('eth_uninstallFilter', id)).result).toBe(false);
    const { result: again } = await ask('eth_newFilter', { address });
    await set(10n);
    expect(valuesOf(await changes(again, 1))).toEqual([10]);
  });

  it.each([
    { is: 'an unknown id', method: 'eth_getFilterChanges', params: ['0x1'], error: NOT_FOUND },
    { is: 'a number', method: 'eth_getFilterChanges', params: [1], error: { code: -32602 } },
    { is: 'missing', method: 'eth_getFilterLogs', params: [], error: { code: -32602 } },
    { is: 'not hexadecimal', method: 'eth_uninstallFilter', params: ['0xg'], error: { code: -32602 } },
    {
      is: 'a filter with blockHash',
      method: 'eth_newFilter',
      params: [{ blockHash: `0x${'00'.repeat(32)}` }],
      error: { code: -32602, message: expect.stringContaining('blockHash') },
    },
    {
      is: 'a reversed range',
      method: 'eth_newFilter',
      params: [{ fromBlock: '0x5', toBlock: '0x4' }],
      error: { code: -32602, message: expect.stringContaining('fromBlock 5') },
    },
  ])('are rejected if the parameter is $is', async ({ method, params, error }) => {
    expect((await ask(method, ...params)).error).toMatchObject(error);
  });

  it('work in viem (createEventFilter, watchEvent) and ethers (Contract.on)', async () => {
    const viem = createPublicClient({
      chain: foundry,
      transport: http(floodgate.gatewayUrl),
      pollingInterval: 50,
    });
    const filter = await viem.createEventFilter({ address, event: ABI[3] });
    const watched: Log[] = [];
    const unwatch = viem.watchEvent({ address, onLogs: (logs) => void watched.push(...logs) });
    const provider = new JsonRpcProvider(floodgate.gatewayUrl, undefined, { polling: false });
    provider.pollingInterval = 50;
    const contract: Contract = new EthersContract(address, ABI, provider);
    const numbers: bigint[] = [];
    await contract.on('Set', (value: bigint) => numbers.push(value));
    await until('viem and ethers to receive logs', async () => {
      await set(40n);
      return watched.length > 0 && numbers.length > 0;
    });
    await set(42n);
    await until('viem to receive the log of 42', () => watched.at(-1)?.data.endsWith('2a') === true);
    // ethers polls once per new block, possibly before the gateway has the log: mine until it receives the log.
    await until('ethers to receive the log of 42', async () => {
      await connect(anvil.url).call('evm_mine');
      return numbers.at(-1) === 42n;
    });
    const logs = await viem.getFilterChanges({ filter });
    expect(logs.map(({ args }) => args.value).at(-1)).toBe(42n);
    expect(await viem.uninstallFilter({ filter })).toBe(true);
    unwatch();
    provider.destroy();
  });
});
