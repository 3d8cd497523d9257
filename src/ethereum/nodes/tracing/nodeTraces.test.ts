import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, type Player, startFakeNode } from '../../../../test/conformance/player.ts';
import { NodeClient } from '../client/nodeClient.ts';
import { NodeTraces } from './nodeTraces.ts';

const HASH = `0x${'ab'.repeat(32)}`;

const NOBODY = `0x${'00'.repeat(20)}`;

/** A node's header, with members unknown to Floodgate. */
const header = (number: unknown, members: object = {}): object => ({
  number,
  hash: HASH,
  parentHash: `0x${'ac'.repeat(32)}`,
  timestamp: '0x1',
  difficulty: '0x0',
  gasUsed: '0x0',
  miner: `0x${'ee'.repeat(20)}`,
  transactions: [],
  uncles: [],
  somethingNew: { of: ['the', 'next', 'fork'] },
  ...members,
});

describe('a block of a node', () => {
  let player: Player;
  let client: NodeClient;
  afterEach(async () => {
    await client.close();
    await player.stop();
  });

  /** Uses a fake node: the cases need faults that no real node produces. */
  async function sourceOf(answer: Answer, chainId = 1): Promise<NodeTraces> {
    player = await startFakeNode((method, params) =>
      method === 'eth_chainId' ? `0x${chainId.toString(16)}` : answer(method, params),
    );
    client = new NodeClient(player.url);
    return new NodeTraces(client);
  }

  /** Answers the probe of the newest block, but has no traces of block 7. */
  const nothingOf7 =
    (members: object, nothing: null | [] = null): Answer =>
    (method, [number]) => {
      if (method === 'eth_getBlockByNumber') return header(number === 'latest' ? '0x9' : number, members);
      if (method !== 'trace_block') return undefined;
      return number === '0x7' ? nothing : [];
    };

  it('may have null traces under proof of stake if it has no transactions', async () => {
    const source = await sourceOf(nothingOf7({}));
    expect(await source.block(7)).toMatchObject({ header: { number: 7 }, traces: [] });
  });

  it('is traced by number if the node cannot trace by hash, and rejected if it was replaced during the trace', async () => {
    let hash = HASH;
    let replace = false;
    const frame = { type: 'CALL', from: NOBODY, to: NOBODY, gas: '0x5208', gasUsed: '0x5208', input: '0x' };
    const transaction = { hash: HASH, from: NOBODY, to: NOBODY, gas: '0x5208', input: '0x' };
    const source = await sourceOf((method, [number]) => {
      if (method === 'eth_getBlockByNumber')
        return header(number === 'latest' ? '0x9' : number, { hash, transactions: [transaction] });
      if (method !== 'debug_traceBlockByNumber') return undefined;
      if (replace) hash = `0x${'ad'.repeat(32)}`;
      return [{ txHash: HASH, result: frame }];
    });
    expect(await source.block(7)).toMatchObject({ traces: [{ type: 'call', blockHash: HASH }] });
    replace = true;
    await expect(source.block(7)).rejects.toThrow(/replaced block 0x7 while it was traced/);
  });

  it.each([{ nothing: null }, { nothing: [] as [] }])(
    'is rejected with traces $nothing if it was mined, because its reward is missing',
    async ({ nothing }) => {
      const source = await sourceOf(nothingOf7({ difficulty: '0x1' }, nothing));
      await expect(source.block(7)).rejects.toThrow(/block 7.*was mined, and its reward is missing/);
    },
  );

  const ETHER = 10n ** 18n;
  const MINER = `0x${'ee'.repeat(20)}`;
  const UNCLE = { hash: `0x${'cd'.repeat(32)}`, miner: `0x${'cc'.repeat(20)}`, number: '0x5' };
  /** A reward as Erigon sends it, without the members that name a transaction. */
  const reward = (rewardType: string, wei: bigint, author = MINER) => ({
    action: { author, rewardType, value: `0x${wei.toString(16)}` },
    blockHash: HASH,
    blockNumber: 7,
    result: null,
    subtraces: 0,
    traceAddress: [],
    type: 'reward',
  });
  /** A node whose block 7 has these rewards, and an uncle from block 5 if it was mined. */
  const rewarding =
    (rewards: readonly object[], difficulty: string): Answer =>
    (method, [number]) => {
      const uncles = difficulty === '0x0' ? [] : [UNCLE.hash];
      if (method === 'eth_getBlockByNumber')
        return header(number === 'latest' ? '0x9' : number, { difficulty, uncles });
      if (method === 'eth_getUncleByBlockHashAndIndex') return header(UNCLE.number, UNCLE);
      if (method !== 'trace_block') return undefined;
      return number === '0x7' ? rewards : [];
    };

  it.each([1, 11_155_111, 560_048])(
    'of proof of stake on chain %i is stored without the reward that the node sent',
    async (chainId) => {
      const source = await sourceOf(rewarding([reward('block', 2n * ETHER)], '0x0'), chainId);
      expect(await source.block(7)).toMatchObject({ header: { number: 7 }, traces: [] });
    },
  );

  it('keeps the rewards of a chain whose schedule is unknown', async () => {
    const source = await sourceOf(rewarding([reward('block', 7n)], '0x0'), 100);
    expect(await source.block(7)).toMatchObject({ traces: [{ action: { value: '0x7' } }] });
  });

  it.each([
    [100, 'only trace_block lists the rewards of Gnosis'],
    [324, 'zkSync Era cannot be indexed'],
  ])('of chain %i is rejected from a node with tracers only: %s', async (chainId, message) => {
    const source = await sourceOf((method, [number]) => {
      if (method === 'eth_getBlockByNumber') return header(number === 'latest' ? '0x9' : number);
      return method === 'debug_traceBlockByHash' ? [] : undefined;
    }, chainId);
    await expect(source.block(7)).rejects.toThrow(message);
    await expect(source.canTrace(7)).rejects.toThrow(message);
  });

  const ofBlock = reward('block', 5n * ETHER + (5n * ETHER) / 32n);
  const ofUncle = reward('uncle', (5n * ETHER * 6n) / 8n, UNCLE.miner);

  it('keeps the rewards that match the schedule if it was mined', async () => {
    const source = await sourceOf(rewarding([ofBlock, ofUncle], '0x1'));
    expect(await source.block(7)).toMatchObject({ traces: [ofBlock, ofUncle] });
  });

  it.each([
    ["the block's amount", [reward('block', 5n * ETHER), ofUncle]],
    ["the uncle's amount", [ofBlock, reward('uncle', (5n * ETHER * 7n) / 8n, UNCLE.miner)]],
    ["the block's author", [reward('block', 5n * ETHER + (5n * ETHER) / 32n, UNCLE.miner), ofUncle]],
    ['a missing uncle', [ofBlock]],
    ['an uncle too many', [ofBlock, ofUncle, ofUncle]],
  ])('is rejected if it was mined and its rewards differ from the schedule: %s', async (_, rewards) => {
    const source = await sourceOf(rewarding(rewards, '0x1'));
    await expect(source.block(7)).rejects.toThrow(/block 7.*reward \d is .*, expected /);
  });
});
