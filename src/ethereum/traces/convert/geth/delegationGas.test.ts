import { describe, expect, it } from 'vitest';
import type { Address, Data, Hash } from '../../index.ts';
import { rules } from '../frameTree.arbitrary.ts';
import type { BlockTransaction, FullBlock } from '../parseTransactions.ts';
import { delegationGasOf, transactionsAtFloor } from './delegationGas.ts';

const address = (digit: string) => `0x${digit.repeat(40)}` as Address; // 20 bytes
const hash = (position: number) => `0x${position.toString(16).padStart(64, '0')}` as Hash; // 32 bytes
const [SENDER, RECIPIENT, MINER, TARGET] = ['a', 'b', 'c', 'd'].map(address) as [
  ...[Address, Address, Address, Address],
];
const delegationTo = (target: string) => `0xef0100${target.slice(2)}`;

/** Returns a block of transactions that run no code, except those with the given positions. */
function blockOf(
  transactions: readonly Partial<BlockTransaction>[],
  code?: string,
  withSteps: number[] = [],
) {
  const ordinary = {
    ...{ from: SENDER, to: RECIPIENT, value: '0x0', gas: 300_000n, input: '0x00' },
    ...{ accessList: [], accessListKeys: 0, authorizations: 0 },
  };
  const header = { number: 1, timestamp: 1, miner: MINER };
  return {
    header: { ...header, transactionHashes: transactions.map((_, i) => hash(i)) },
    transactions: transactions.map((one, i) => ({ ...ordinary, hash: hash(i), ...one })),
    firstSteps: transactions.map((_, i) => ({
      txHash: hash(i),
      result: { structLogs: withSteps.includes(i) ? [{ gas: 1 }] : [] },
    })),
    recipientCodes: new Map([[RECIPIENT, code]]),
  } as unknown as FullBlock; // the members that are read
}

describe('the gas for a delegation that the gas floor may hide', () => {
  it('is possible for transactions with data that run no code, before the first authorization', () => {
    const block = blockOf(
      [{}, { input: '0x' as Data }, { to: null }, {}, {}, { authorizations: 1 }, {}],
      '0x',
      [3],
    );
    expect(transactionsAtFloor(block, rules).map((one) => one.hash)).toEqual([hash(0), hash(4)]);
  });

  it.each<[string, { accessList?: Address[]; code: string }, bigint | undefined]>([
    ['no delegation', { code: '0x' }, undefined],
    ['a contract', { code: '0xef010000' }, undefined],
    ['a cold target', { code: delegationTo(TARGET) }, 3_000n],
    ['a target in the access list', { accessList: [TARGET], code: delegationTo(TARGET) }, 100n],
    ['the sender', { code: delegationTo(SENDER) }, 100n],
    ['the recipient itself', { code: delegationTo(RECIPIENT) }, 100n],
    ['the miner', { code: delegationTo(MINER) }, 100n],
    ['a precompiled contract', { code: delegationTo(`0x${'4'.padStart(40, '0')}`) }, 100n],
  ])('depends on the target: %s', (_, { accessList = [], code }, gas) => {
    expect(delegationGasOf(blockOf([{ accessList }], code), rules).get(hash(0))).toBe(gas);
  });
});
