import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, type Player, startPlayer } from '../../../test/conformance/player.ts';
import { NodeClient } from './nodeClient.ts';
import { NodeTraces } from './nodeTraces.ts';

const HASH = `0x${'ab'.repeat(32)}`;

const NOBODY = `0x${'00'.repeat(20)}`;

/** A header as nodes give it, with members that nobody here knows. */
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

  /** A fake: the cases are of nodes that cannot be had here. */
  async function sourceOf(answer: Answer): Promise<NodeTraces> {
    player = await startPlayer((method, params) =>
      method === 'eth_chainId' ? '0x1' : answer(method, params),
    );
    client = new NodeClient(player.url);
    return new NodeTraces(client);
  }

  /** What the probe asks about its newest block is answered; what is asked about block 7 is not. */
  const nothingOf7 =
    (members: object, nothing: null | [] = null): Answer =>
    (method, [number]) => {
      if (method === 'eth_getBlockByNumber') return header(number === 'latest' ? '0x9' : number, members);
      if (method !== 'trace_block') return undefined;
      return number === '0x7' ? nothing : [];
    };

  it('without transactions may have null for traces under proof of stake', async () => {
    const source = await sourceOf(nothingOf7({}));
    expect(await source.block(7)).toMatchObject({ header: { number: 7 }, traces: [] });
  });

  it('is traced by its number where the node cannot do it by hash, and refused where another took its place', async () => {
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
    'that was mined has a reward: $nothing for its traces is no answer',
    async ({ nothing }) => {
      const source = await sourceOf(nothingOf7({ difficulty: '0x1' }, nothing));
      await expect(source.block(7)).rejects.toThrow(/block 7.*was mined, and its reward is missing/);
    },
  );
});
