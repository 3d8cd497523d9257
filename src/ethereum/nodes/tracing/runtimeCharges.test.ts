import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, type Player, startFakeNode } from '../../../../test/conformance/player.ts';
import { chainRulesOf, type FullBlock, hiddenCharges } from '../../traces/convert/index.ts';
import { NodeClient } from '../client/nodeClient.ts';
import { traceRuntimeCharges } from './runtimeCharges.ts';

const rules = chainRulesOf(11_155_111);
const AMSTERDAM_TIME = 1_791_294_816;
const [BLOCK, PARENT] = [`0x${'b7'.repeat(32)}`, `0x${'b6'.repeat(32)}`];
const SENDER = `0x${'a1'.repeat(20)}`;
const RECIPIENT = `0x${'b0'.repeat(20)}`;
const DELEGATION = `0xef0100${'d0'.repeat(20)}`;
const hash = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;
const DATA = { input: '0x00', spent: 15_064 };

/** Returns a block of transactions without code. The default one uses the gas floor. */
function blockOf(...transactions: readonly object[]): FullBlock {
  const sent = transactions.map((members, i) => ({
    hash: hash(i),
    from: SENDER,
    to: RECIPIENT,
    value: '0x0',
    gas: 100_000n,
    ...DATA,
    accessList: [],
    accessListKeys: 0,
    authorizations: [],
    ...members,
  }));
  return {
    header: { number: 7, hash: BLOCK, parentHash: PARENT, timestamp: AMSTERDAM_TIME },
    transactions: sent,
    firstSteps: sent.map(({ spent }) => ({ result: { gas: spent, failed: false, structLogs: [] } })),
  } as unknown as FullBlock; // the members that are read
}

describe('calls for the runtime charges of a block', () => {
  let player: Player;
  let client: NodeClient;
  afterEach(async () => {
    await client.close();
    await player.stop();
  });

  /** Uses a fake node: the cases need many transactions, and a node without `debug_traceCall`. */
  async function traced(block: FullBlock, answers: Record<string, Answer>) {
    const calls: string[] = [];
    player = await startFakeNode((method, params) => {
      calls.push(method);
      return answers[method]?.(method, params);
    });
    client = new NodeClient(player.url);
    const hidden = hiddenCharges(block, rules);
    const charges = await traceRuntimeCharges(client, block, { hidden, rules, timeout: '5s' });
    const count = calls.filter((one) => one === 'debug_traceCall').length;
    return { hashes: [...charges.traces.keys()], calls: count, hidden: charges.hidden };
  }

  const result = { gas: 15_100, failed: false, structLogs: [] };
  const delegated = { debug_traceCall: () => result, eth_getCode: () => DELEGATION };
  /** The nonces of all accounts in the parent block and in the block. */
  const nonces =
    (before: number, after: number): Answer =>
    (_, [, state]) =>
      `0x${((state as { blockHash: string }).blockHash === PARENT ? before : after).toString(16)}`;

  it('are not sent if the recipient does not delegate', async () => {
    const answers = { ...delegated, eth_getCode: () => '0x' };
    expect(await traced(blockOf({}, {}), answers)).toEqual({ hashes: [], calls: 0, hidden: 0 });
  });

  it('are sent for each transaction to a recipient that delegates', async () => {
    expect(await traced(blockOf({}, {}), delegated)).toEqual({
      hashes: [hash(0), hash(1)],
      calls: 2,
      hidden: 0,
    });
  });

  it.each([
    { after: 6, hashes: [] },
    { after: 7, hashes: [hash(1), hash(2)] },
  ])(
    'are sent if an authorization of the block may change the code of the recipient, nonce $after',
    async (one) => {
      const authorized = { authorizations: [{}], spent: 30_000, input: '0x' };
      const block = blockOf(authorized, {}, { from: RECIPIENT, spent: 12_064 });
      const answers = {
        ...delegated,
        eth_getCode: () => '0x',
        eth_getTransactionCount: nonces(5, one.after),
      };
      expect((await traced(block, answers)).hashes).toEqual(one.hashes);
    },
  );

  it('number at most 256 for a block', async () => {
    const block = blockOf(...Array.from({ length: 300 }, () => ({})));
    expect(await traced(block, delegated)).toMatchObject({ calls: 256, hidden: 44 });
  });

  it('have no result if the node refuses them', async () => {
    const charges = await traced(blockOf({}, {}), { eth_getCode: () => DELEGATION });
    expect(charges).toEqual({ hashes: [], calls: 1, hidden: 2 });
  });
});
