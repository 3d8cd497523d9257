import { setTimeout as pause } from 'node:timers/promises';
import { Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { type FloodgateProcess, startFloodgateProcess } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { KEY, OTHER } from './support/contract.ts';
import { type InterceptedNode, startInterceptedNode } from './support/interceptedNode.ts';
import { call } from './support/send.ts';

const TRANSACTIONS = 3;
/** Requests after each step. Each opens a connection, so that both workers answer some. */
const REQUESTS = 4;
/** Delay of the node that has the transaction, so that the gateway prefers the other node for other requests. */
const SLOW_MS = 400;
const SENDER = new Wallet(KEY).address.toLowerCase();
/** Exceeds the number of samples needed for a latency quantile. */
const WARM_UP_CALLS = 40;

/**
 * Two nodes with one chain. The node that did not receive the latest transaction lags: it does not have the transaction
 * and its receipt, and returns an old pending nonce.
 */
async function startLaggingNodes(upstream: string): Promise<readonly InterceptedNode[]> {
  const nodes = await Promise.all([startInterceptedNode(upstream), startInterceptedNode(upstream)]);
  let accepting: InterceptedNode | undefined;
  for (const node of nodes)
    node.intercept = async ({ methods: [method], body }, answer) => {
      if (method === 'eth_sendRawTransaction') accepting = node;
      const isOther = method === 'eth_getTransactionCount' && !body.includes(SENDER);
      if (node === accepting && isOther) await pause(SLOW_MS);
      const isLookUp = method === 'eth_getTransactionByHash' || method === 'eth_getTransactionReceipt';
      if (!isLookUp && !(method === 'eth_getTransactionCount' && body.includes('pending'))) return answer();
      if (node === accepting) return answer();
      return JSON.stringify({ jsonrpc: '2.0', id: 1, result: isLookUp ? null : '0x0' });
    };
  return nodes;
}

describe.each([{ workers: 1 }, { workers: 2 }])('with $workers workers', ({ workers }) => {
  let anvil: Anvil;
  let nodes: readonly InterceptedNode[];
  let floodgate: FloodgateProcess;
  beforeAll(async () => {
    anvil = await startAnvil();
    await call(anvil.url, 'evm_setAutomine', false);
    nodes = await startLaggingNodes(anvil.url);
    floodgate = await startFloodgateProcess({ upstream: nodes.map(({ url }) => url), config: { workers } });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await Promise.all((nodes ?? []).map((node) => node.stop()));
    await anvil?.stop();
  });

  const ask = async (method: string, ...params: unknown[]): Promise<readonly unknown[]> => {
    const results: unknown[] = [];
    for (let i = 0; i < REQUESTS; i++)
      results.push((await call(floodgate.gatewayUrl, method, ...params)).json.result);
    return results;
  };
  let address = 2 ** 40;
  /** Waits until another node than this one answers other requests, in all workers. */
  const untilOther = (accepting: unknown): Promise<true> =>
    until('the other node to be preferred', async () => {
      for (let i = 0; i < 2 * REQUESTS; i++) {
        const account = `0x${(address++).toString(16).padStart(40, '0')}`;
        // This request is never hedged, so it counts for the latency of the node.
        const { headers } = await call(floodgate.gatewayUrl, 'eth_getTransactionCount', account, 'pending');
        if (headers['x-floodgate-upstream'] === accepting) return false;
      }
      return true;
    });
  const all = (value: unknown): unknown[] => Array(REQUESTS).fill(value);

  it('the node that accepted a transaction answers for its hash, its receipt and the next nonce', async () => {
    const wallet = new Wallet(KEY);
    for (let nonce = 0; nonce < TRANSACTIONS; nonce++) {
      const raw = await wallet.signTransaction({
        type: 2,
        chainId: 31337,
        nonce,
        to: OTHER,
        value: 1n,
        gasLimit: 21_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 1n,
      });
      // A request that is in progress when the transaction is sent must not be shared with later ones.
      const before = call(floodgate.gatewayUrl, 'eth_getTransactionCount', wallet.address, 'pending');
      const { json, headers } = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', raw);
      expect(json.error).toBeUndefined();
      await untilOther(headers['x-floodgate-upstream']);
      expect(await ask('eth_getTransactionCount', wallet.address, 'pending')).toEqual(
        all(`0x${(nonce + 1).toString(16)}`),
      );
      await before;
      expect(await ask('eth_getTransactionByHash', json.result)).toEqual(
        all(expect.objectContaining({ hash: json.result })),
      );
      expect(await ask('eth_getTransactionReceipt', json.result)).toEqual(all(null));
      await call(anvil.url, 'anvil_mine', '0x1');
      const receipt = expect.objectContaining({ transactionHash: json.result });
      expect(await ask('eth_getTransactionReceipt', json.result)).toEqual(all(receipt));
    }
  });

  it('another node answers if the node that accepted the transaction fails', async () => {
    const wallet = new Wallet(KEY);
    for (const node of nodes) node.intercept = undefined;
    const raw = await wallet.signTransaction({
      type: 2,
      chainId: 31337,
      nonce: TRANSACTIONS,
      to: OTHER,
      value: 1n,
      gasLimit: 21_000n,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 1n,
    });
    const { json, headers } = await call(floodgate.gatewayUrl, 'eth_sendRawTransaction', raw);
    const accepting = nodes[headers['x-floodgate-upstream'] === 'node-1' ? 0 : 1];
    if (accepting !== undefined) accepting.intercept = () => 'not JSON';
    const [transaction] = await ask('eth_getTransactionByHash', json.result);
    expect(transaction).toMatchObject({ hash: json.result });
    expect(await ask('eth_getTransactionCount', wallet.address, 'pending')).toEqual(
      all(`0x${(TRANSACTIONS + 1).toString(16)}`),
    );
  });
});

it('requests for a pending nonce are never hedged', async () => {
  const anvil = await startAnvil();
  const nodes = await Promise.all([startInterceptedNode(anvil.url), startInterceptedNode(anvil.url)]);
  const floodgate = await startFloodgateProcess({ upstream: nodes.map(({ url }) => url) });
  try {
    const asked = (): number =>
      nodes.reduce((sum, { counts }) => sum + (counts.get('eth_getTransactionCount') ?? 0), 0);
    for (let i = 1; i <= WARM_UP_CALLS + 3; i++) {
      if (i === WARM_UP_CALLS)
        for (const node of nodes)
          node.intercept = async ({ methods: [method] }, answer) => {
            if (method === 'eth_getTransactionCount') await pause(SLOW_MS);
            return answer();
          };
      const address = `0x${i.toString(16).padStart(40, '0')}`;
      await call(floodgate.gatewayUrl, 'eth_getTransactionCount', address, 'pending');
      expect(asked()).toBe(i);
    }
  } finally {
    await floodgate.stop();
    await Promise.all(nodes.map((node) => node.stop()));
    await anvil.stop();
  }
});
