import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNTS, connect } from '../support/anvil.ts';
import { gethBinary, mined, NO_GETH, startGeth } from '../support/geth.ts';
import { CALLEE, type LargeTracesNode, startLargeTracesNode, TRANSACTION } from '../support/largeTraces.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

const MEGABYTE = 1e6;
const BLOCK = 3;
/** A transaction with 293,259 gas can make these calls; their traces are 290 MB of JSON. */
const CALLS = { calls: 1_450, inputBytes: 100_000 };
const MAX_RESIDENT_BYTES = 500 * MEGABYTE;

describe('a block with 1,450 calls of 100 kB in one transaction', () => {
  let node: LargeTracesNode;
  let floodgate: FloodgateProcess;

  beforeAll(async () => {
    node = await startLargeTracesNode({ dialect: 'callTracer', block: BLOCK, head: 5, ...CALLS });
    floodgate = await startFloodgateProcess({ upstream: node.url });
  });
  afterAll(async () => {
    await floodgate.stop();
    await node.stop();
  });

  const call = (method: string, ...params: readonly unknown[]): Promise<Answer> =>
    callAt(floodgate, method, ...params);

  const filter = (count: number) => ({ fromBlock: '0x3', toBlock: '0x3', toAddress: [CALLEE], count });

  test('is indexed with less than 1 MB on disk and 500 MB of memory', async () => {
    await until(
      'the head to be indexed',
      async () => (await call('trace_block', '0x5')).result !== undefined,
    );
    expect(node.longestBytes()).toBeGreaterThan(256 * 1024 * 1024);
    expect(statSync(join(floodgate.dataDir, 'traces', 'data.mdb')).size).toBeLessThan(MEGABYTE);
    if (process.platform === 'linux') expect(peakBytesOf(floodgate)).toBeLessThan(MAX_RESIDENT_BYTES);
  });

  test('is served up to the maximum response size and rejected above it', async () => {
    const { result } = await call('trace_filter', filter(3));
    expect(result).toHaveLength(3);
    const { result: last } = await call('trace_get', TRANSACTION, ['0x5a9']);
    expect(last).toMatchObject({
      traceAddress: [1_449],
      action: { input: `0x${'5a'.repeat(CALLS.inputBytes)}` },
    });
    const tooLarge = { code: -32_005, data: { limit: 64 * 1024 * 1024 } };
    expect(await call('trace_block', '0x3')).toMatchObject({ error: tooLarge });
    expect(await call('trace_transaction', TRANSACTION)).toMatchObject({ error: tooLarge });
  });

  test('uses less than 500 MB of memory while 60 clients request 40 MB each and do not read', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'trace_filter', params: [filter(200)] });
    const headers = { 'content-type': 'application/json' };
    const asked = Array.from({ length: 60 }, () =>
      fetch(floodgate.gatewayUrl, { method: 'POST', headers, body }),
    );
    const answers = await Promise.all(asked);
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].sort()).toEqual([200, 429]);
    if (process.platform === 'linux') expect(peakBytesOf(floodgate)).toBeLessThan(MAX_RESIDENT_BYTES);
    await Promise.all(answers.map(({ body }) => body?.cancel()));
    // The server notices the closed connections one by one, and checks their memory again every half second.
    await expect.poll(() => call('eth_chainId')).toMatchObject({ result: '0x7a69' });
  });
});

const binary = gethBinary();

describe.skipIf(binary === undefined)(
  `a transaction with 300 calls of 100 kB in geth${binary ? '' : ` (${NO_GETH})`}`,
  () => {
    test('is indexed with all of its 301 frames from 60 MB of JSON', async () => {
      const geth = await startGeth(binary ?? '');
      const node = connect(geth.url);
      const [funded] = ACCOUNTS;
      const signer = privateKeyToAccount(funded?.key as Hex);
      const send = async (
        nonce: number,
        transaction: { to?: Hex; data?: Hex; gas: bigint },
      ): Promise<Receipt> => {
        const fees = { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: GWEI };
        const signed = await signer.signTransaction({
          chainId: 31_337,
          type: 'eip1559',
          nonce,
          ...fees,
          ...transaction,
        });
        const hash = await node.call<string>('eth_sendRawTransaction', signed);
        await mined(node, hash);
        return node.call<Receipt>('eth_getTransactionReceipt', hash);
      };
      const { contractAddress } = await send(0, { data: creationOf(REPEATER_CODE), gas: 200_000n });
      const to = contractAddress ?? expect.unreachable();
      const { gasUsed, blockNumber, transactionHash } = await send(1, { to, gas: 200_000n });
      expect(Number(gasUsed)).toBeLessThan(200_000);
      const floodgate = await startFloodgateProcess({ upstream: geth.url });
      try {
        const filter = {
          fromBlock: blockNumber,
          toBlock: blockNumber,
          toAddress: [CALLED],
          after: 299,
          count: 9,
        };
        expect(await callAt(floodgate, 'trace_filter', filter)).toMatchObject({
          result: [{ transactionHash }],
        });
        const last = await callAt(floodgate, 'trace_get', transactionHash, ['0x12b']);
        expect(last).toMatchObject({ result: { blockNumber: Number(blockNumber), traceAddress: [299] } });
        expect(await callAt(floodgate, 'trace_get', transactionHash, ['0x12c'])).toMatchObject({
          result: null,
        });
        expect(statSync(join(floodgate.dataDir, 'traces', 'data.mdb')).size).toBeLessThan(MEGABYTE);
        if (process.platform === 'linux') expect(peakBytesOf(floodgate)).toBeLessThan(MAX_RESIDENT_BYTES);
      } finally {
        await floodgate.stop();
        await geth.stop();
      }
    });
  },
);

const GWEI = 10n ** 9n;

/** An account without code. */
const CALLED = `0x${'ca'.padStart(40, '0')}`;

/**
 * Calls `CALLED` 300 times with 100,000 bytes of memory; with more calls, geth needs 30 s on a busy machine.
 * PUSH2 300, JUMPDEST, CALL, POP, SUB, DUP1, PUSH1 3, JUMPI.
 */
const REPEATER_CODE = '61012c5b5f5f620186a05f5f60ca5af150600190038060035700';

/** Returns init code that deploys `code`: it copies the bytes after its own 10 bytes. */
const creationOf = (code: string): Hex => {
  const length = (code.length / 2).toString(16).padStart(2, '0');
  return `0x60${length}600a5f3960${length}5ff3${code}`;
};

interface Receipt {
  readonly transactionHash: string;
  readonly contractAddress: Hex | null;
  readonly gasUsed: string;
  readonly blockNumber: string;
}

async function callAt(
  { gatewayUrl }: FloodgateProcess,
  method: string,
  ...params: readonly unknown[]
): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(gatewayUrl, { method: 'POST', headers, body });
  return (await response.json()) as Answer;
}

/** Returns the peak resident memory of the process. */
function peakBytesOf(floodgate: FloodgateProcess): number {
  const status = readFileSync(`/proc/${floodgate.process.pid}/status`, 'utf8');
  return 1024 * Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN);
}

interface Answer {
  readonly result?: unknown;
  readonly error?: unknown;
}
