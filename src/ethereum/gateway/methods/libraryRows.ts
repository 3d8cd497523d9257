import { blockOfInclusion, blocksOfReceipts } from './blocksIn.ts';
import { areReceiptsOfBlock } from './checkReceipts.ts';
import * as checks from './checks.ts';
import { address, SMALL_BYTES, stateBlock, stateOverrides, transaction } from './commonParams.ts';
import * as kinds from './kinds.ts';
import type { RelayedRow } from './row.ts';
import { isSimulation, MAX_SIMULATED_BLOCKS, MAX_SIMULATED_CALLS, simulation } from './simulation.ts';

/** Methods that common libraries need with their defaults, or whose users expect them. */
export const LIBRARY_ROWS: readonly RelayedRow[] = [
  {
    name: 'eth_maxPriorityFeePerGas',
    summary: 'A tip per unit of gas, in wei, that will do now.',
    params: [],
    scope: { of: 'moment' },
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_blobBaseFee',
    summary: 'The base fee of blob gas for the next block, in wei.',
    params: [],
    scope: { of: 'moment' },
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_getBlockReceipts',
    summary: 'The receipts of all transactions of a block.',
    params: [{ name: 'block', kind: kinds.anyBlock }],
    scope: { of: 'block', param: 0 },
    byHash: true,
    result: 'list',
    check: areReceiptsOfBlock,
    blocksIn: blocksOfReceipts,
    isBlockItself: true,
    nullable: true,
  },
  {
    name: 'eth_createAccessList',
    summary:
      'The accounts and slots of storage that a transaction would touch, and the gas that it would use.',
    params: [transaction, stateBlock, stateOverrides],
    scope: { of: 'block', param: 1 },
    mayDiffer: true,
    result: 'object',
    check: checks.isAccessList,
  },
  {
    name: 'eth_simulateV1',
    summary: 'Carries out calls in blocks on top of a block, each on the state that the one before has left.',
    params: [{ name: 'simulation', kind: simulation }, stateBlock],
    limits: `at most ${MAX_SIMULATED_BLOCKS} blocks and ${MAX_SIMULATED_CALLS} calls in all`,
    scope: { of: 'block', param: 1 },
    byHash: true,
    mayDiffer: true,
    result: 'list',
    check: isSimulation,
  },
  {
    name: 'eth_getTransactionBySenderAndNonce',
    summary: 'The transaction of an account with a nonce; not every node knows the method.',
    params: [
      { ...address, name: 'sender' },
      { name: 'nonce', kind: kinds.quantity },
    ],
    scope: { of: 'found', member: 'blockNumber' },
    result: 'object',
    check: checks.isTransactionOfSender,
    blocksIn: blockOfInclusion,
    smallBytes: SMALL_BYTES.transaction,
    nullable: true,
  },
];
