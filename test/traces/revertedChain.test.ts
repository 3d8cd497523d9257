import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call } from '../gateway/support/send.ts';
import { floodgate as run } from '../rules/support/command.ts';
import { type Anvil, connect, startAnvil } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';

/** Blocks that a transaction stands in, each with one; anvil takes the block 64 below its head for final. */
const BLOCKS = 90;
const LEFT = 10;

describe('a development chain that is set back', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'floodgate-reverted-'));
  let anvil: Anvil;
  let floodgate: Floodgate;
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
  const atLatest = async () =>
    (await call(floodgate.gatewayUrl, 'trace_filter', { fromBlock: 'latest', toBlock: 'latest' })).json;

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
    const head = await headOfNode();
    await until(
      'the index has the head',
      async () => (await atLatest()).result?.[0]?.blockHash === head.hash,
    );
  });
  afterAll(async () => {
    await floodgate?.stop();
    await anvil?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('has one head for trace_filter and eth_blockNumber, before another block comes', async () => {
    await node().call('evm_revert', snapshot);
    await until(
      'the gateway says that the head has gone down',
      async () =>
        (await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result === `0x${LEFT.toString(16)}`,
    );
    // A single node is asked for its number, and for its head once in a poll's interval.
    await until(
      'the last block is that of the node',
      async () => (await atLatest()).result?.[0]?.blockNumber === LEFT,
    );
    const above = await call(floodgate.gatewayUrl, 'trace_block', `0x${BLOCKS.toString(16)}`);
    expect(above.json.error?.data).toEqual({ head: LEFT });
  });

  it('is followed on its new way, though it went back below what the node called final', async () => {
    await mine(BLOCKS - LEFT + 5);
    const head = await headOfNode();
    await until(
      'the index has the new head',
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

  it('can be rewound by hand, while no server runs', async () => {
    await floodgate.stop();
    const rewound = await run(['index', '--rewind', '20', '--data-dir', dataDir]);
    expect(rewound).toMatchObject({
      status: 0,
      stdout: 'Removed the blocks above 20, up to 95. The highest block of the index is now 20.\n',
    });
    const again = await run(['index', '--rewind', '20', '--data-dir', dataDir]);
    expect(again.stdout).toBe('The index has no block above 20.\n');
    expect((await run(['index', '--data-dir', dataDir])).stderr).toMatch(
      /--from BLOCK, or .* --rewind BLOCK/,
    );
  });
});
