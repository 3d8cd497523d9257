import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { getLogsRetryHelper } from '@ponder/utils';
import { createPublicClient, http, LimitExceededRpcError, type RpcError } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { PROGRAM } from '../support/program.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { call, send } from './support/send.ts';

const run = promisify(execFile);

/** The pattern that Subsquid's data source searches (@subsquid/evm-processor). */
const SUBSQUID = /Try with this block range \[(0x[0-9a-f]+), (0x[0-9a-f]+)\]/i;

const limits = { traceFilterBlocks: 5, traceFilterCount: 3, logsBlocks: 4, feeHistoryBlocks: 2 };
const request = (method: string, ...params: unknown[]) => ({ jsonrpc: '2.0', id: 1, method, params });
const hex = (number: number): string => `0x${number.toString(16)}`;
const range = (blocks: number, first = 1) => ({ fromBlock: hex(first), toBlock: hex(first + blocks - 1) });

describe('with gateway.limits', () => {
  let anvil: Anvil;
  let floodgate: FloodgateProcess;
  beforeAll(async () => {
    anvil = await startAnvil();
    await call(anvil.url, 'anvil_mine', '0x20');
    const config = { workers: 2, gateway: { limits } };
    floodgate = await startFloodgateProcess({ upstream: anvil.url, config });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await anvil?.stop();
  });

  const ask = async (body: object, key?: string) =>
    (await send(floodgate.gatewayUrl + (key === undefined ? '' : `/${key}`), { body })).json;

  it('calls are accepted up to the limits, and rejected above them with their values', async () => {
    const cases = [
      ['trace_filter', [range(5)], [range(6)], 5, 6],
      ['trace_filter', [{ ...range(1), count: 3 }], [{ ...range(1), count: 4 }], 3, 4],
      ['eth_getLogs', [range(4)], [range(5)], 4, 5],
      ['eth_getLogs', [range(4)], [{ fromBlock: '0x1', toBlock: 'latest' }], 4, 32],
      ['eth_feeHistory', ['0x2', 'latest', []], ['0x3', 'latest', []], 2, 3],
    ] as const;
    for (const [method, most, over, limit, requested] of cases) {
      expect(await ask(request(method, ...most)), method).toHaveProperty('result');
      const { error } = await ask(request(method, ...over));
      expect(error, method).toMatchObject({ code: -32005, data: { limit, requested } });
      expect(error.message).toContain(String(limit));
      expect(error.message).not.toMatch(/\b(800|200|10)\b/);
    }
    const filter = (await ask(request('eth_newFilter', { fromBlock: '0x1' }))).result;
    const { error } = await ask(request('eth_getFilterLogs', filter));
    expect(error).toMatchObject({ code: -32005, data: { limit: 4 } });
  });

  it('the OpenRPC document contains the limits', async () => {
    const text = JSON.stringify((await ask(request('rpc.discover'))).result);
    expect(text).toContain('at most 5 blocks, both ends counted; count at most 3');
    expect(text).toContain('at most 4 blocks, both ends counted');
    expect(text).not.toMatch(/\b800\b/);
  });

  it('viem, the retry helper of Ponder and the pattern of Subsquid split a rejected range of eth_getLogs', async () => {
    const client = createPublicClient({ transport: http(floodgate.gatewayUrl, { retryCount: 0 }) });
    const params = [{ fromBlock: '0x2', toBlock: '0xb' }] as const;
    const error = await client
      .request({ method: 'eth_getLogs', params: [...params] })
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(LimitExceededRpcError);
    const retry = getLogsRetryHelper({ params: [...params], error: error as RpcError });
    expect(retry).toMatchObject({ shouldRetry: true });
    const ranges = retry.ranges ?? [];
    expect(ranges.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])).toEqual([
      ['0x2', '0x5'],
      ['0x6', '0x9'],
      ['0xa', '0xb'],
    ]);
    for (const part of ranges) expect(await ask(request('eth_getLogs', part))).toHaveProperty('result');
    const raw = await ask(request('eth_getLogs', params[0]));
    expect(SUBSQUID.exec(raw.error.message)?.slice(1)).toEqual(['0x2', '0x5']);
  });

  it('limits of an API key replace them for its calls, higher or lower, in all workers', async () => {
    const create = async (...args: string[]): Promise<string> => {
      const all = ['key', 'create', ...args, '--data-dir', floodgate.dataDir];
      const { stdout } = await run(process.execPath, [PROGRAM, ...all]);
      return /^fgk_\S+/.exec(stdout)?.[0] ?? '';
    };
    const high = await create('--name', 'high', '--limits', 'logsBlocks=6,traceFilterBlocks=7');
    const low = await create('--name', 'low', '--limits', 'logsBlocks=1');
    await until('the gateway to require a key', async () => {
      return (await send(floodgate.gatewayUrl, { body: request('eth_chainId') })).status === 401;
    });
    // Each request opens a connection, so both workers answer some.
    for (let i = 0; i < 4; i++) {
      expect(await ask(request('eth_getLogs', range(6)), high)).toHaveProperty('result');
      expect((await ask(request('eth_getLogs', range(7)), high)).error.data).toMatchObject({ limit: 6 });
      expect(await ask(request('trace_filter', range(7)), high)).toHaveProperty('result');
      expect((await ask(request('eth_feeHistory', '0x3', 'latest'), high)).error.data.limit).toBe(2);
      expect((await ask(request('eth_getLogs', range(2)), low)).error.data).toMatchObject({ limit: 1 });
    }
    const filter = (await ask(request('eth_newFilter', range(6)), high)).result;
    expect(await ask(request('eth_getFilterLogs', filter), high)).toHaveProperty('result');
    expect(JSON.stringify((await ask(request('rpc.discover'), high)).result)).toContain('at most 7 blocks');
    await expect(create('--name', 'a', '--limits', 'logsBlocks=0')).rejects.toThrow(/logsBlocks=1 to 10000/);
    await expect(create('--name', 'a', '--limits', 'blocks=5')).rejects.toThrow(
      /--limits contains "blocks=5"/,
    );
  });
});
