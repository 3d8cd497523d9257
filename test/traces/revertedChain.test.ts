import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** Number of blocks, each with one transaction. anvil's `finalized` block is 64 below its head. */
const BLOCKS = 90;
const LEFT = 10;

describe('a development chain that is reverted', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-reverted-'));
  let anvil: Anvil;
  let floodgate: Floodgate;
  /** A server that polls its node once per minute, so that none of its responses depend on a poll. */
  let seldom: Floodgate;
  let snapshot: string;
  let address: string;

  const mine = async (blocks: number): Promise<void> => {
    for (let i = 0; i < blocks; i++) {
      const [from] = await node().call<string[]>('eth_accounts');
      address = from ?? '';
      await node().call('eth_sendTransaction', {
        from,
        to: `0x${'9'.repeat(40)}`,
        value: `0x${(i + 1).toString(16)}`,
      });
      await node().call('evm_mine');
    }
  };
  const node = () => connect(anvil.url);
  const headOfNode = () =>
    node().call<{ number: string; hash: string }>('eth_getBlockByNumber', 'latest', false);
  const atLatest = async ({ gatewayUrl } = floodgate) =>
    (await call(gatewayUrl, 'trace_filter', { fromBlock: 'latest', toBlock: 'latest' })).json;

  beforeAll(async () => {
    anvil = await startAnvil();
    await mine(LEFT);
    snapshot = await node().call<string>('evm_snapshot');
    await mine(BLOCKS - LEFT);
    floodgate = await startFloodgate({
      upstream: anvil.url,
      dataDir,
      args: ['--index-poll-interval-ms', '50', '--index-from', '0'],
    });
    seldom = await startFloodgate({
      upstream: anvil.url,
      args: ['--index-poll-interval-ms', '60000', '--index-from', '0'],
    });
    const head = await headOfNode();
    for (const server of [floodgate, seldom])
      await until(
        'the head to be indexed',
        async () => (await atLatest(server)).result?.[0]?.blockHash === head.hash,
      );
  });
  afterAll(async () => {
    await floodgate?.stop();
    await seldom?.stop();
    await anvil?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('has the same lower head in trace_filter and eth_blockNumber before the next block', async () => {
    const { transactionHash } = (await atLatest(seldom)).result[0];
    await node().call('evm_revert', snapshot);
    const { gatewayUrl } = seldom;
    // After the gateway has reported the lower head once, no response contains a block above it.
    expect((await call(gatewayUrl, 'eth_blockNumber')).json.result).toBe(`0x${LEFT.toString(16)}`);
    expect((await atLatest(seldom)).result[0].blockNumber).toBe(LEFT);
    const range = { fromBlock: `0x${BLOCKS.toString(16)}`, toBlock: `0x${BLOCKS.toString(16)}` };
    expect((await call(gatewayUrl, 'trace_filter', range)).json.error?.data).toEqual({ head: LEFT });
    expect((await call(gatewayUrl, 'trace_transaction', transactionHash)).json.result).toBe(null);
    expect((await call(gatewayUrl, 'trace_get', transactionHash, [])).json.result).toBe(null);
    await until(
      'the lower head',
      async () =>
        (await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result === `0x${LEFT.toString(16)}`,
    );
    // With a single node, eth_blockNumber is relayed, while the head is polled once per interval.
    await until(
      'the last block of the node to be served',
      async () => (await atLatest()).result?.[0]?.blockNumber === LEFT,
    );
    const above = await call(floodgate.gatewayUrl, 'trace_block', `0x${BLOCKS.toString(16)}`);
    expect(above.json.error?.data).toEqual({ head: LEFT });
    expect((await call(floodgate.gatewayUrl, 'trace_transaction', transactionHash)).json.result).toBe(null);
  });

  it('is indexed on its new branch although final blocks were reverted', async () => {
    await mine(BLOCKS - LEFT + 5);
    const head = await headOfNode();
    await until(
      'the new head to be indexed',
      async () => (await atLatest()).result?.[0]?.blockHash === head.hash,
    );
    const filter = { fromBlock: '0x0', toBlock: 'latest', fromAddress: [address] };
    const { result } = (await call(floodgate.gatewayUrl, 'trace_filter', filter)).json;
    for (const { blockNumber, blockHash } of result) {
      const block = await node().call<{ hash: string }>(
        'eth_getBlockByNumber',
        `0x${blockNumber.toString(16)}`,
        false,
      );
      expect(blockHash).toBe(block.hash);
    }
    expect(result).toHaveLength(BLOCKS + 5);
  });

  it('has the traces of a transaction whose block replaced an indexed one, before the next poll', async () => {
    const { hash, transactions } = await node().call<{ hash: string; transactions: string[] }>(
      'eth_getBlockByNumber',
      `0x${(LEFT + 5).toString(16)}`,
      false,
    );
    const { gatewayUrl } = seldom;
    const receipt = await call(gatewayUrl, 'eth_getTransactionReceipt', transactions[0]);
    expect(receipt.json.result.blockHash).toBe(hash);
    const traces = await call(gatewayUrl, 'trace_transaction', transactions[0]);
    expect(traces.json.result).toMatchObject([{ blockHash: hash, transactionHash: transactions[0] }]);
  });

  it('can be rewound by floodgate index --rewind while no server runs', async () => {
    // Responses at the head may come from the node before its blocks are indexed.
    await until('the head to be indexed', async () =>
      (await (await fetch(`${floodgate.url}/metrics`)).text()).includes(
        `floodgate_index_head_block{network="mainnet"} ${BLOCKS + 5}\n`,
      ),
    );
    await floodgate.stop();
    const rewound = await run(['index', '--rewind', '20', '--data-dir', dataDir]);
    expect(rewound).toMatchObject({
      status: 0,
      stdout: 'Removed the blocks above 20, up to 95. The highest block of the index is now 20.\n',
    });
    const again = await run(['index', '--rewind', '20', '--data-dir', dataDir]);
    expect(again.stdout).toBe('The index has no block above 20.\n');
    expect((await run(['index', '--data-dir', dataDir])).stderr).toMatch(/--from BLOCK, .* --rewind BLOCK/);
  });
});
