import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
import { call } from './support/send.ts';
import { type SpoiltNode, startSpoiltNode } from './support/spoiltNode.ts';

const NOT_FOUND = { code: -32000, message: expect.stringContaining('filter not found') };

describe('HTTP filters', () => {
  let anvil: Anvil;
  let node: SpoiltNode;
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
    node = await startSpoiltNode(anvil.url);
    floodgate = await start();
    const { reader, wallet } = chain();
    const hash = await wallet.deployContract({ abi: ABI, bytecode: BYTECODE });
    await connect(anvil.url).call('evm_mine');
    address = (await reader.waitForTransactionReceipt({ hash })).contractAddress as Hex; // a deployment's receipt has it
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
  /** Asks until as many have come as are waited for. */
  async function changes(id: string, count: number) {
    const all: { data: string; removed: boolean; blockHash: string }[] = [];
    await until(`${count} changes came`, async () => {
      const { result, error } = await ask('eth_getFilterChanges', id);
      expect(error).toBeUndefined();
      all.push(...result);
      return all.length >= count;
    });
    return all;
  }
  const valuesOf = (logs: readonly { data: string; removed: boolean }[]) =>
    logs.map(({ data, removed }) => (removed ? -1 : 1) * Number(data));

  it('tell each log once and in order, for nothing at the nodes, and what a reorganisation takes back', async () => {
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

  it('tell the hashes of new blocks', async () => {
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

  it('give all logs of their range, and end when they are uninstalled', async () => {
    const { result: id } = await ask('eth_newFilter', { address, fromBlock: '0x0' });
    const { result } = await ask('eth_getFilterLogs', id);
    expect(result).toEqual((await ask('eth_getLogs', { address, fromBlock: '0x0' })).result);
    expect(result.length).toBeGreaterThan(3);
    expect((await ask('eth_uninstallFilter', id)).result).toBe(true);
    expect((await ask('eth_uninstallFilter', id)).result).toBe(false);
    for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs'])
      expect((await ask(method, id)).error).toMatchObject(NOT_FOUND);
  });

  it('go on in another process: no log is lost', async () => {
    const { result: id } = await ask('eth_newFilter', { address });
    const { result: blocks } = await ask('eth_newBlockFilter');
    await set(10n);
    expect(valuesOf(await changes(id, 1))).toEqual([10]);
    await set(11n);
    await floodgate.stop();
    await set(12n);
    floodgate = await start();
    // What was fetched comes again: nobody remembers that it was.
    expect(valuesOf(await changes(id, 3))).toEqual([10, 11, 12]);
    await set(13n);
    expect(valuesOf(await changes(id, 1))).toEqual([13]);
    expect((await changes(blocks, 4)).length).toBe(4);
  });

  describe('of servers with the same secret', () => {
    const SECRET = 'of_two_servers_that_share_nothing_else';
    let servers: Floodgate[];
    beforeAll(async () => {
      const config = { index: { finality: 'none', pollIntervalMs: 100 } };
      const file = join(dataDir, 'filter-secret');
      await writeFile(file, `${SECRET}\n`);
      servers = await Promise.all(
        [
          { FLOODGATE_GATEWAY_FILTER_SECRET: SECRET },
          { FLOODGATE_GATEWAY_FILTER_SECRET_FILE: file },
          { FLOODGATE_GATEWAY_FILTER_SECRET: `${SECRET}_` },
        ].map((env) => startFloodgate({ upstream: anvil.url, config, env })),
      );
    });
    afterAll(() => Promise.all((servers ?? []).map((server) => server.stop())));
    const askAt = async (server: number, method: string, ...params: unknown[]) =>
      (await call(servers[server]?.gatewayUrl ?? '', method, ...params)).json;
    /** Asks until the log of a value comes; the values since the last time, as those of a server that did not make the filter may come twice. */
    const valuesAt = async (server: number, id: string, last: number): Promise<number[]> => {
      const values = new Set<number>();
      await until(`${last} came`, async () => {
        const { result, error } = await askAt(server, 'eth_getFilterChanges', id);
        expect(error).toBeUndefined();
        for (const value of valuesOf(result)) values.add(value);
        return values.has(last);
      });
      return [...values];
    };

    it('are answered by each of them, from where they were made on', async () => {
      const { result: id } = await askAt(0, 'eth_newFilter', { address, fromBlock: '0x0' });
      const { result: blocks } = await askAt(0, 'eth_newBlockFilter');
      await set(21n);
      expect(await valuesAt(0, id, 21)).toEqual([21]);
      await set(22n);
      expect(await valuesAt(1, id, 22)).toEqual([21, 22]);
      await set(23n);
      // Each knows how far its client is.
      expect(await valuesAt(0, id, 23)).toEqual([22, 23]);
      expect((await valuesAt(1, id, 23)).at(-1)).toBe(23);
      const hashes = new Set<string>();
      await until('all blocks came', async () => {
        for (const hash of (await askAt(1, 'eth_getFilterChanges', blocks)).result) hashes.add(hash);
        return hashes.size >= 3;
      });
      const { result } = await askAt(1, 'eth_getFilterLogs', id);
      const range = { address, fromBlock: '0x0' };
      expect(result).toEqual(await connect(anvil.url).call('eth_getLogs', range));
      expect((await askAt(1, 'eth_uninstallFilter', id)).result).toBe(true);
      expect((await askAt(1, 'eth_getFilterChanges', id)).error).toMatchObject(NOT_FOUND);
    });

    it('are none to a server with another', async () => {
      const { result: id } = await askAt(0, 'eth_newFilter', { address });
      for (const method of ['eth_getFilterChanges', 'eth_getFilterLogs']) {
        expect((await askAt(2, method, id)).error).toMatchObject(NOT_FOUND);
        expect((await ask(method, id)).error).toMatchObject(NOT_FOUND);
      }
      expect((await askAt(2, 'eth_uninstallFilter', id)).result).toBe(false);
    });

    it('are not answered from where they were made where that block was replaced', async () => {
      const snapshot = await connect(anvil.url).call('evm_snapshot');
      await set(24n);
      const { number } = await connect(anvil.url).call<{ number: string }>(
        'eth_getBlockByNumber',
        'latest',
        false,
      );
      await until('it is known', async () => (await askAt(0, 'eth_blockNumber')).result === number);
      const { result: id } = await askAt(0, 'eth_newFilter', { address });
      await connect(anvil.url).call('evm_revert', snapshot);
      await connect(anvil.url).call('evm_increaseTime', 1_000);
      for (const value of [25n, 26n]) await set(value);
      expect((await askAt(1, 'eth_getFilterChanges', id)).error).toMatchObject(NOT_FOUND);
      expect((await valuesAt(0, id, 26)).slice(-2)).toEqual([25, 26]);
    });
  });

  it.each([
    { is: 'made up', method: 'eth_getFilterChanges', params: ['0x1'], error: NOT_FOUND },
    { is: 'no text', method: 'eth_getFilterChanges', params: [1], error: { code: -32602 } },
    { is: 'missing', method: 'eth_getFilterLogs', params: [], error: { code: -32602 } },
    { is: 'no hex', method: 'eth_uninstallFilter', params: ['0xg'], error: { code: -32602 } },
    {
      is: 'of one block',
      method: 'eth_newFilter',
      params: [{ blockHash: `0x${'00'.repeat(32)}` }],
      error: { code: -32602, message: expect.stringContaining('blockHash') },
    },
    {
      is: 'of a reversed range',
      method: 'eth_newFilter',
      params: [{ fromBlock: '0x5', toBlock: '0x4' }],
      error: { code: -32602, message: expect.stringContaining('fromBlock 5') },
    },
    {
      is: 'too large for its id',
      method: 'eth_newFilter',
      params: [
        {
          address: Array.from(
            { length: 1_000 },
            (_, i) => `0x${(i * 7 ** 9).toString(16).padStart(20, '3').repeat(2)}`,
          ),
          topics: [
            Array.from({ length: 1_000 }, () => `0x${crypto.randomUUID().replaceAll('-', '').repeat(2)}`),
          ],
        },
      ],
      error: { code: -32005, data: { limit: 4096 } },
    },
  ])('are refused where one is $is', async ({ method, params, error }) => {
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
    await until('both watch', async () => {
      await set(40n);
      return watched.length > 0 && numbers.length > 0;
    });
    await set(42n);
    await until('viem has it', () => watched.at(-1)?.data.endsWith('2a') === true);
    // It asks once for each new block, and may be faster than the log.
    await until('ethers has it', async () => {
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
