import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../support/anvil.ts';
import { type Floodgate, startFloodgate } from '../support/startFloodgate.ts';
import { until } from '../support/until.ts';
import { startInterceptedNode } from './support/interceptedNode.ts';
import { type ReplicatedChain, startReplicatedChain } from './support/replicatedChain.ts';
import { call } from './support/send.ts';

const BLOCKS = 12;
/** Enough reads for each node to receive some of them. */
const READS = 60;
const POLL = ['--index-poll-interval-ms', '100'];

interface Block {
  readonly number: string;
  readonly hash: string;
}

describe('nodes on different forks at the same height', () => {
  let chain: ReplicatedChain;
  let floodgate: Floodgate;

  beforeAll(async () => {
    chain = await startReplicatedChain(3);
    await chain.grow(BLOCKS);
    floodgate = await startFloodgate({ upstream: chain.nodes.map(({ url }) => url), args: POLL });
  });
  afterAll(async () => {
    await floodgate?.stop();
    await chain?.stop();
  });

  const nodeAt = (place: number) => connect(chain.nodes[place]?.url ?? '');
  const latestOf = (place: number): Promise<Block> =>
    nodeAt(place).call<Block>('eth_getBlockByNumber', 'latest', false);
  const accountAt = (n: number): string => `0x${(0xf00d_0000 + n).toString(16).padStart(40, '0')}`;

  /** Mines a block on one node in which every account has the given balance. */
  async function mine(place: number, balance: string, seconds: number): Promise<Block> {
    const node = nodeAt(place);
    for (let n = 0; n < READS; n++) await node.call('anvil_setBalance', accountAt(n), balance);
    const { timestamp } = await node.call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
    await node.call('evm_setNextBlockTimestamp', Number(timestamp) + seconds);
    await node.call('evm_mine');
    return latestOf(place);
  }

  const headHash = async (): Promise<string> =>
    (await call(floodgate.gatewayUrl, 'eth_getBlockByNumber', 'latest', false)).json.result?.hash;

  /** Returns the distinct balances of all accounts, requested concurrently. */
  async function balances(): Promise<Set<string>> {
    const answers = await Promise.all(
      Array.from({ length: READS }, (_, n) =>
        call(floodgate.gatewayUrl, 'eth_getBalance', accountAt(n), 'latest'),
      ),
    );
    return new Set(answers.map(({ json }) => json.result ?? JSON.stringify(json.error)));
  }

  it('receive calls only if they have the head that clients see', async () => {
    const ours = await mine(0, '0xa', 12);
    expect(await mine(1, '0xa', 12)).toEqual(ours);
    const other = await mine(2, '0xb', 13);
    expect(other.number).toBe(ours.number);
    expect(other.hash).not.toBe(ours.hash);
    await until('the head of most nodes', async () => (await headHash()) === ours.hash);
    let { hash } = ours;
    for (let i = 0; i < 5; i++) {
      expect(await headHash()).toBe(hash);
      expect([...(await balances())]).toEqual(['0xa']);
      // Cached results expire with the head, so mine another block on every node.
      await mine(0, '0xa', 12);
      ({ hash } = await mine(1, '0xa', 12));
      await mine(2, '0xb', 13);
      await until('the next head', async () => (await headHash()) === hash);
    }
  });

  it('return no cached results of a replaced fork after all agree on another fork', async () => {
    for (const place of [0, 1, 2]) await nodeAt(place).call('anvil_rollback', 3);
    for (let i = 0; i < 3; i++) for (const place of [0, 1, 2]) await mine(place, '0xc', 14);
    const { hash } = await latestOf(0);
    await until('the head of the new fork', async () => (await headHash()) === hash);
    expect([...(await balances())]).toEqual(['0xc']);
  });

  it('lower the head of the gateway when all of them roll back', async () => {
    const before = await latestOf(0);
    for (const place of [0, 1, 2]) await nodeAt(place).call('anvil_rollback', 2);
    const after = await latestOf(0);
    expect(Number(after.number)).toBe(Number(before.number) - 2);
    await until('the head to go back', async () => (await headHash()) === after.hash);
    expect((await call(floodgate.gatewayUrl, 'eth_blockNumber')).json.result).toBe(after.number);
  });
});

it('state methods return state of the head that clients see, even if a node changed its fork since the last poll', async () => {
  const chain = await startReplicatedChain(3);
  const [changed, ...others] = chain.nodes.map(({ url }) => connect(url));
  const accounts = Array.from(
    { length: READS },
    (_, n) => `0x${(0xbeef_0000 + n).toString(16).padStart(40, '0')}`,
  );
  const own = async (node: typeof changed, balance: string): Promise<void> => {
    for (const account of accounts) await node?.call('anvil_setBalance', account, balance);
  };
  await chain.grow(BLOCKS);
  for (const node of [changed, ...others]) await own(node, '0xa');
  // The poll interval is longer than the test.
  const floodgate = await startFloodgate({
    upstream: chain.nodes.map(({ url }) => url),
    args: ['--index-poll-interval-ms', '60000'],
  });
  try {
    const balances = async (block: string): Promise<unknown[]> => {
      const answers = await Promise.all(
        accounts.map((account) => call(floodgate.gatewayUrl, 'eth_getBalance', account, block)),
      );
      return answers.map(({ json }) => json.result ?? json.error);
    };
    const head = `0x${chain.head().toString(16)}`;
    await changed?.call('anvil_rollback', 1);
    await own(changed, '0xb');
    await changed?.call('evm_mine');
    expect(new Set(await balances('latest'))).toEqual(new Set(['0xa']));
    expect(new Set(await balances(head))).toEqual(new Set(['0xa']));
    // The other nodes reorganise too: the old head no longer exists on any node, but no call fails.
    for (const node of others) {
      await node.call('anvil_rollback', 2);
      await own(node, '0xc');
      await node.call('anvil_mine', '0x3');
    }
    await changed?.call('anvil_rollback', 2);
    await own(changed, '0xc');
    await changed?.call('anvil_mine', '0x3');
    expect(new Set(await balances('safe').then((all) => all.map((one) => typeof one)))).toEqual(
      new Set(['string']),
    );
    const transfer = { from: accounts[0], to: accounts[1], value: '0xc' };
    expect((await call(floodgate.gatewayUrl, 'eth_call', transfer, 'latest')).json).toHaveProperty('result');
    expect((await call(floodgate.gatewayUrl, 'eth_getCode', accounts[0], head)).json).toHaveProperty(
      'result',
    );
  } finally {
    await floodgate.stop();
    await chain.stop();
  }
});

it('state methods use block numbers on nodes that reject block hashes', async () => {
  const chain = await startReplicatedChain(2);
  await chain.grow(3);
  const nodes = await Promise.all(chain.nodes.map(({ url }) => startInterceptedNode(url)));
  for (const node of nodes)
    node.intercept = ({ body }, answer) =>
      body.includes('blockHash')
        ? '{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"invalid argument 1: not a block number"}}'
        : answer();
  const floodgate = await startFloodgate({ upstream: nodes.map(({ url }) => url), args: POLL });
  try {
    for (const block of ['latest', '0x3', '0x1']) {
      const { json } = await call(floodgate.gatewayUrl, 'eth_getBalance', `0x${'7'.repeat(40)}`, block);
      expect(json).toEqual({ jsonrpc: '2.0', id: 1, result: '0x0' });
    }
  } finally {
    await floodgate.stop();
    for (const node of nodes) await node.stop();
    await chain.stop();
  }
});

it('eth_getBlockByNumber returns the new block if nodes replaced it since the last poll', async () => {
  const chain = await startReplicatedChain(2);
  await chain.grow(BLOCKS);
  const urls = chain.nodes.map(({ url }) => url);
  // The poll interval is longer than the test: only the results show that the chain was replaced.
  const floodgate = await startFloodgate({ upstream: urls, args: ['--index-poll-interval-ms', '60000'] });
  try {
    // Alternates between full transactions and hashes, because cached results live as long as the head.
    const block = async (url: string, number: unknown, whole: boolean) =>
      (await call(url, 'eth_getBlockByNumber', number, whole)).json;
    for (const [number, whole] of [
      [chain.head(), true],
      ['latest', false],
    ] as const) {
      const before = await block(urls[0] ?? '', 'latest', !whole);
      expect(await block(floodgate.gatewayUrl, number, !whole)).toEqual(before);
      await chain.replace(2);
      const after = await block(urls[1] ?? '', 'latest', whole);
      expect(after.result.number).toBe(before.result.number);
      expect(after.result.hash).not.toBe(before.result.hash);
      expect(await block(floodgate.gatewayUrl, number, whole)).toEqual(after);
    }
  } finally {
    await floodgate.stop();
    await chain.stop();
  }
});
