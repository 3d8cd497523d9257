import { describe, expect, it } from 'vitest';
import { chainRulesOf } from '../chains/chainRulesOf.ts';
import { parseHeader } from '../parseHeader.ts';
import { blockRewards } from './blockRewards.ts';

const hash = (byte: string) => `0x${byte.repeat(32)}`;
const MINER = `0x${'a1'.repeat(20)}`;

function header(number: number, members: Record<string, unknown> = {}) {
  const numbers = { number: `0x${number.toString(16)}`, timestamp: '0x1', gasLimit: '0x0', gasUsed: '0x0' };
  return parseHeader({
    hash: hash('b1'),
    parentHash: hash('b0'),
    miner: MINER,
    difficulty: '0x1',
    ...numbers,
    ...members,
  });
}

const mainnet = chainRulesOf(1);
const values = (number: number, ages: readonly number[]) => {
  const uncles = ages.map((age, i) => header(number - age, { hash: hash(`c${i}`) }));
  const block = header(number, { uncles: uncles.map((uncle) => uncle.hash) });
  return blockRewards(block, uncles, mainnet).map(({ action }) => BigInt(action.value));
};
const ether = (amount: number) => BigInt(amount * 1_000_000) * 10n ** 12n;

describe('blockRewards', () => {
  it('returns 5, 3 and 2 ETH by fork', () => {
    expect([values(1, []), values(4_370_000, []), values(7_280_000, [])]).toEqual([
      [ether(5)],
      [ether(3)],
      [ether(2)],
    ]);
  });

  it('adds 1/32 per uncle, and reduces the reward of an uncle by 1/8 per block of age', () => {
    expect(values(1_000_000, [1, 6])).toEqual([ether(5.3125), ether(4.375), ether(1.25)]);
  });

  it('returns complete traces, the block before its uncles', () => {
    const uncle = header(6, { hash: hash('c0'), miner: `0x${'c1'.repeat(20)}` });
    const rewards = blockRewards(header(7, { uncles: [uncle.hash] }), [uncle], mainnet);
    expect(JSON.stringify(rewards[0])).toBe(
      `{"action":{"author":"${MINER}","rewardType":"block","value":"0x478eae0e571ba000"},"blockHash":"${hash('b1')}",` +
        '"blockNumber":7,"result":null,"subtraces":0,"traceAddress":[],"transactionHash":null,' +
        '"transactionPosition":null,"type":"reward"}',
    );
    expect(rewards.map(({ action }) => action.rewardType)).toEqual(['block', 'uncle']);
  });

  it('returns no rewards under proof of stake, for the genesis block and on chains without mined rewards', () => {
    expect(blockRewards(header(15_537_394, { difficulty: '0x0' }), [], mainnet)).toEqual([]);
    expect(blockRewards(header(0), [], mainnet)).toEqual([]);
    expect(blockRewards(header(1), [], chainRulesOf(31_337))).toEqual([]);
  });

  it('rejects uncles that do not match the header, and uncles of a wrong age', () => {
    const block = header(9, { uncles: [hash('c0')] });
    expect(() => blockRewards(block, [], mainnet)).toThrow('uncles do not match the header');
    expect(() => blockRewards(block, [header(9, { hash: hash('c0') })], mainnet)).toThrow('0 blocks back');
    expect(() => blockRewards(block, [header(1, { hash: hash('c0') })], mainnet)).toThrow('8 blocks back');
  });
});
