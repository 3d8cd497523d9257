import { readFileSync } from 'node:fs';
import { type Contract, ContractFactory, JsonRpcProvider, Wallet } from 'ethers';
import {
  BaseError,
  createPublicClient,
  createWalletClient,
  type Hex,
  http,
  MethodNotSupportedRpcError,
  parseEther,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { hasClient, importClient, NO_CLIENTS } from './support/clients.ts';
import { ABI, BYTECODE, KEY, OTHER } from './support/contract.ts';

describe('JavaScript client libraries', () => {
  let anvil: Anvil;
  let floodgate: Floodgate;
  beforeAll(async () => {
    anvil = await startAnvil({ blockTimeMs: 200 });
    floodgate = await startFloodgate({ upstream: anvil.url, args: ['--index-poll-interval-ms', '100'] });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await anvil?.stop();
  });

  it('ethers maps a trace type that is not served to UNSUPPORTED_OPERATION', async () => {
    const provider = new JsonRpcProvider(floodgate.gatewayUrl);
    const nobody = `0x${'ab'.repeat(32)}`;
    for (const type of ['stateDiff', 'vmTrace'])
      await expect(provider.send('trace_replayTransaction', [nobody, [type]])).rejects.toMatchObject({
        code: 'UNSUPPORTED_OPERATION',
      });
    provider.destroy();
  });

  const RATE = 10;
  const at = (i: number): Hex => `0x${(0xab00 + i).toString(16).padStart(40, '0')}`;

  it('viem waits and tries again if it exceeds the rate of the gateway, with the settings of the docs', async () => {
    const limited = await startFloodgate({
      upstream: anvil.url,
      args: ['--gateway-rate-per-address', String(RATE)],
    });
    const settings = /http\('http:[^']+', (\{\n.*?\n\})\);/s.exec(
      readFileSync('docs/guides/clients.md', 'utf8'),
    )?.[1];
    const options = new Function(`return ${settings}`)();
    const client = createPublicClient({ transport: http(limited.gatewayUrl, options) });
    try {
      const balances = Array.from({ length: 6 * RATE }, (_, i) => client.getBalance({ address: at(i) }));
      expect(new Set(await Promise.all(balances))).toEqual(new Set([0n]));
    } finally {
      await limited.stop();
    }
  });

  it('ethers waits and tries again if it exceeds the rate of the gateway', async () => {
    const limited = await startFloodgate({
      upstream: anvil.url,
      args: ['--gateway-rate-per-address', String(RATE)],
    });
    const provider = new JsonRpcProvider(limited.gatewayUrl, 31_337, {
      staticNetwork: true,
      batchMaxCount: 1,
    });
    try {
      const balances = Array.from({ length: 3 * RATE }, (_, i) => provider.getBalance(at(i)));
      expect(new Set(await Promise.all(balances))).toEqual(new Set([0n]));
    } finally {
      provider.destroy();
      await limited.stop();
    }
  });

  it('viem reads blocks, sends transactions, calls contracts and maps errors to its error classes', async () => {
    const transport = http(floodgate.gatewayUrl, { retryCount: 0 });
    const account = privateKeyToAccount(KEY);
    const reader = createPublicClient({ chain: foundry, transport, pollingInterval: 50 });
    const wallet = createWalletClient({ account, chain: foundry, transport });

    expect(await reader.getChainId()).toBe(31337);
    const block = await reader.getBlock({ includeTransactions: true });
    expect((await reader.getBlock({ blockHash: block.hash })).number).toBe(block.number);

    const before = await reader.getBalance({ address: OTHER });
    const sent = await wallet.sendTransaction({ to: OTHER, value: parseEther('1') });
    const receipt = await reader.waitForTransactionReceipt({ hash: sent });
    expect(receipt.status).toBe('success');
    expect(await reader.getBalance({ address: OTHER })).toBe(before + parseEther('1'));
    expect((await reader.getTransaction({ hash: sent })).blockNumber).toBe(receipt.blockNumber);

    const deployed = await reader.waitForTransactionReceipt({
      hash: await wallet.deployContract({ abi: ABI, bytecode: BYTECODE }),
    });
    const address = deployed.contractAddress as Hex; // the receipt of a deployment contains it
    const set = await wallet.writeContract({ address, abi: ABI, functionName: 'set', args: [42n] });
    const setReceipt = await reader.waitForTransactionReceipt({ hash: set });
    expect(await reader.readContract({ address, abi: ABI, functionName: 'get' })).toBe(42n);
    const logs = await reader.getContractEvents({
      address,
      abi: ABI,
      eventName: 'Set',
      fromBlock: setReceipt.blockNumber,
      toBlock: 'latest',
    });
    expect(logs.map(({ args }) => args.value)).toEqual([42n]);

    await expect(reader.readContract({ address, abi: ABI, functionName: 'fail' })).rejects.toThrow(
      /reverted/,
    );
    const unsupported = await reader
      .request({ method: 'eth_accounts' } as never)
      .catch((error: unknown) => error);
    expect(unsupported).toBeInstanceOf(BaseError);
    expect(
      (unsupported as BaseError).walk(
        (one) => one instanceof MethodNotSupportedRpcError || /does not support/.test(String(one)),
      ),
    ).toBeTruthy();
    const wide = reader.getLogs({ fromBlock: 0n, toBlock: 800n });
    await expect(wide).rejects.toThrow(/801 blocks requested\. Max range: 800/);
    await expect(reader.getBlock({ blockNumber: 10_000_000n })).rejects.toThrow(/could not be found/);
  });

  it('@ponder/utils splits a rejected eth_getLogs into ranges that are served', async (context) => {
    if (!hasClient('@ponder/utils')) context.skip(NO_CLIENTS);
    const { getLogsRetryHelper } = await importClient('@ponder/utils');
    const { request } = createPublicClient({ transport: http(floodgate.gatewayUrl, { retryCount: 0 }) });
    await connect(anvil.url).call('anvil_mine', '0x320');
    const params = [{ fromBlock: '0x0', toBlock: '0x320' }] as const;
    const error: unknown = await request({ method: 'eth_getLogs', params: [...params] }).catch((it) => it);
    const { shouldRetry, ranges } = getLogsRetryHelper({ params, error });
    expect({ shouldRetry, ranges }).toEqual({
      shouldRetry: true,
      ranges: [
        { fromBlock: '0x0', toBlock: '0x31f' },
        { fromBlock: '0x320', toBlock: '0x320' },
      ],
    });
    for (const range of ranges)
      expect(await request({ method: 'eth_getLogs', params: [range] })).toBeInstanceOf(Array);
  });

  it('ethers reads blocks, sends transactions, calls contracts and maps errors, in batches', async () => {
    const provider = new JsonRpcProvider(floodgate.gatewayUrl, undefined, {
      pollingInterval: 50,
      cacheTimeout: -1,
    });
    try {
      const wallet = new Wallet(KEY, provider);
      expect((await provider.getNetwork()).chainId).toBe(31337n);
      const [block, balance, count] = await Promise.all([
        provider.getBlock('latest', true),
        provider.getBalance(OTHER),
        provider.getTransactionCount(wallet.address),
      ]);
      expect(block?.number).toBeTypeOf('number');
      expect(balance).toBeTypeOf('bigint');
      expect(count).toBeTypeOf('number');

      const sent = await (await wallet.sendTransaction({ to: OTHER, value: 5n })).wait();
      expect(sent?.status).toBe(1);
      expect(await provider.getBalance(OTHER)).toBe(balance + 5n);

      const factory = new ContractFactory(ABI, BYTECODE, wallet);
      const contract = (await (await factory.deploy()).waitForDeployment()) as unknown as Contract; // any ABI
      const receipt = await (await contract.getFunction('set')(7n)).wait();
      expect(await contract.getFunction('get')()).toBe(7n);
      const logs = await contract.queryFilter('Set', receipt.blockNumber, 'latest');
      expect(logs).toHaveLength(1);

      await expect(contract.getFunction('fail')()).rejects.toMatchObject({
        code: 'CALL_EXCEPTION',
        reason: 'no',
      });
      await expect(provider.send('eth_accounts', [])).rejects.toThrow(/does not support|-32601/);
      await expect(provider.send('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x320' }])).rejects.toThrow(
        /Max range: 800\. Try with this block range \[0x0, 0x31f\]/,
      );
    } finally {
      provider.destroy();
    }
  });
});
