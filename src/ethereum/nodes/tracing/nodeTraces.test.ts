import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, type Player, startFakeNode } from '../../../../test/conformance/player.ts';
import { startHttpServer } from '../../../../test/support/httpServer.ts';
import type { Hash } from '../../traces/index.ts';
import { NodeClient } from '../client/nodeClient.ts';
import type { TraceLimits } from '../largeResponses/traceLimits.ts';
import { NodeTraces } from './nodeTraces.ts';

const HASH = `0x${'ab'.repeat(32)}`;

const NOBODY = `0x${'00'.repeat(20)}`;
const MINER = `0x${'ee'.repeat(20)}`;

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

it('a request for traces times out if the node sends no data for the maximum time', async () => {
  const server = await startHttpServer(() => undefined);
  const client = new NodeClient(server.url);
  try {
    const asked = client.batch([['debug_traceBlockByHash', HASH, {}]], { silenceMs: 1 });
    await expect(asked).rejects.toMatchObject({ reason: 'timeout' });
  } finally {
    await client.close();
    await server.stop();
  }
});

describe('a block of a node', () => {
  let player: Player;
  let client: NodeClient;
  afterEach(async () => {
    await client.close();
    await player.stop();
  });

  /** Uses a fake node: the cases need faults that no real node produces. */
  async function sourceOf(answer: Answer, chainId = 1, limits?: Partial<TraceLimits>): Promise<NodeTraces> {
    player = await startFakeNode((method, params) =>
      method === 'eth_chainId' ? `0x${chainId.toString(16)}` : answer(method, params),
    );
    client = new NodeClient(player.url);
    return new NodeTraces(client, { limits });
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

  describe('of Polygon that is too large for one response, with a state sync', () => {
    const [block, payment, sync] = ['b7', 'c1', '5c'].map((byte) => `0x${byte.repeat(32)}`);
    const transactions = [
      { hash: payment, from: MINER, to: NOBODY, gas: '0x5208', value: '0x0', input: '0x' },
      { hash: sync, from: NOBODY, to: NOBODY, gas: '0x0', value: '0x0', input: '0x' },
    ];
    const frame = { from: MINER, to: NOBODY, gas: '0x5208', gasUsed: '0x5208', input: '0x', value: '0x0' };
    const flat = {
      action: { callType: 'call', from: MINER, gas: '0x0', input: '0x', to: NOBODY, value: '0x0' },
      blockHash: block,
      blockNumber: 7,
      transactionHash: payment,
      transactionPosition: 0,
      type: 'call',
      result: { gasUsed: '0x0', output: '0x' },
      subtraces: 0,
      traceAddress: [],
    };

    it.each([
      { method: 'debug_trace', result: { type: 'CALL', ...frame } },
      { method: 'trace_', result: [flat] },
    ])(
      'is traced by transaction without the state sync, which $method… cannot trace alone',
      async (offered) => {
        const source = await sourceOf((method, [which]) => {
          if (method === 'eth_getBlockByNumber')
            return which === '0x7'
              ? header(which, { hash: block, transactions })
              : header(which === 'latest' ? '0x9' : which);
          if (!method.startsWith(offered.method)) return undefined;
          if (!method.endsWith('Transaction') && !method.endsWith('_transaction')) {
            if (which === block || which === '0x7') throw new Error('response is too large');
            return [];
          }
          if (which !== payment) throw new Error('intrinsic gas too low');
          return offered.result;
        }, 137);
        expect(await source.block(7)).toMatchObject({
          traces: [{ transactionHash: payment }],
          lacksFrames: true,
        });
      },
    );
  });

  describe('of a node with tracers', () => {
    const AMSTERDAM_TIME = 1_791_294_816;
    const transaction = { hash: HASH, from: MINER, to: NOBODY, gas: '0x186a0', value: '0x1', input: '0x' };
    const root = { ...transaction, type: 'CALL', gasUsed: '0x7530' };
    const precompiles = { P256VERIFY: `0x${'100'.padStart(40, '0')}` };
    const reported = { current: { activationTime: 9, precompiles, systemContracts: {} }, next: null };

    /** A node whose blocks have one transaction. Returns the requests for steps and forks, in order. */
    async function tracing(timestamp: number, steps: unknown, forks: unknown = reported) {
      const asked: string[] = [];
      const source = await sourceOf((method, [which, options]) => {
        if (method === 'eth_config') asked.push(method);
        if (method === 'eth_config') return forks;
        if (method === 'eth_getBlockByNumber') {
          const time = `0x${timestamp.toString(16)}`;
          return header(which === 'latest' ? '0x9' : which, { timestamp: time, transactions: [transaction] });
        }
        if (method !== 'debug_traceBlockByHash') return undefined;
        if (Object.keys(options as object).includes('tracer')) return [{ txHash: HASH, result: root }];
        asked.push(JSON.stringify(options));
        if (steps instanceof Error) throw steps;
        return steps;
      }, 11_155_111);
      return { source, asked };
    }

    it('has the gas of the first step as gas of the root frame since Amsterdam', async () => {
      const steps = [{ txHash: HASH, result: { gas: 30_000, structLogs: [{ gas: 70_000 }] } }];
      const { source, asked } = await tracing(AMSTERDAM_TIME, steps);
      expect(await source.block(7)).toMatchObject({ traces: [{ action: { gas: '0x11170' } }] });
      expect(await source.block(8)).toMatchObject({ traces: [{ blockNumber: 8 }] });
      const firstStep = '{"limit":1,"disableStack":true,"disableStorage":true,"timeout":"30000ms"}';
      expect(asked).toEqual(['eth_config', firstStep, firstStep]);
    });

    it('needs no request for steps before Amsterdam and on other chains', async () => {
      const { source, asked } = await tracing(AMSTERDAM_TIME - 1, []);
      expect(await source.block(7)).toMatchObject({ traces: [{ action: { gas: '0x13498' } }] });
      expect(asked).toEqual(['eth_config']);
    });

    it('has approximate gas since Amsterdam if the node does not offer the step logger', async () => {
      const { source } = await tracing(AMSTERDAM_TIME, undefined);
      expect(await source.block(7)).toMatchObject({ traces: [{ action: { gas: '0x13498' } }] });
    });

    it.each([undefined, null, { current: 'osaka' }])(
      'has the rules of the built-in table if the node returns %o for its forks',
      async (forks) => {
        const { source, asked } = await tracing(AMSTERDAM_TIME - 1, [], forks);
        expect(await source.block(7)).toMatchObject({ traces: [{ action: { gas: '0x13498' } }] });
        expect(asked).toEqual(['eth_config']);
      },
    );

    it('is not stored if the step logger fails, or if its result is false', async () => {
      const failing = await tracing(AMSTERDAM_TIME, new Error('execution timeout'));
      await expect(failing.source.block(7)).rejects.toMatchObject({ failure: 'tracerError' });
      await client.close();
      await player.stop();
      const lying = await tracing(AMSTERDAM_TIME, [{ txHash: MINER, result: { structLogs: [] } }]);
      await expect(lying.source.block(7)).rejects.toMatchObject({ failure: 'invalid' });
    });
  });

  it('is traced with index.traceTimeoutMs as the timeout of each request to a tracer', async () => {
    const timeouts: unknown[] = [];
    const source = await sourceOf(
      (method, [which, options]) => {
        if (method === 'eth_getBlockByNumber')
          return header(which === 'latest' ? '0x9' : which, { transactions: [HASH] });
        if (!method.startsWith('debug_')) return undefined;
        timeouts.push((options as { timeout?: unknown }).timeout);
        if (method === 'debug_traceTransaction') return { output: '0x' };
        return method === 'debug_traceBlockByNumber' ? [] : undefined;
      },
      1,
      { traceTimeoutMs: 12_345 },
    );
    await source.canTrace(7);
    await source.revertOutput(HASH as Hash);
    expect(timeouts.length).toBeGreaterThan(4);
    expect(new Set(timeouts)).toEqual(new Set(['12345ms']));
  });

  it.each([{ nothing: null }, { nothing: [] as [] }])(
    'is rejected with traces $nothing if it was mined, because its reward is missing',
    async ({ nothing }) => {
      const source = await sourceOf(nothingOf7({ difficulty: '0x1' }, nothing));
      await expect(source.block(7)).rejects.toThrow(/block 7.*was mined, and its reward is missing/);
    },
  );

  const ETHER = 10n ** 18n;
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
