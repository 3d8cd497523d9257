import { areReceiptsOfBlock } from '../checkReceipts.ts';
import * as checks from '../checks.ts';
import { address, SMALL_BYTES, stateBlock, stateOverrides, transaction } from '../commonParams.ts';
import * as kinds from '../paramTypes.ts';
import { blockOfInclusion, blocksOfReceipts } from '../referencedBlocks.ts';
import type { RelayedRow } from '../row.ts';
import { isSimulation, MAX_SIMULATED_BLOCKS, MAX_SIMULATED_CALLS, simulation } from '../simulation.ts';
import { valueOfNode } from './valueOfNode.ts';

/** Relayed methods that common client libraries call by default, or that users of these libraries expect. */
export const LIBRARY_ROWS: readonly RelayedRow[] = [
  valueOfNode('eth_maxPriorityFeePerGas', 'A suggested priority fee per gas, in wei.', 'quantity'),
  valueOfNode('eth_blobBaseFee', 'The base fee of blob gas for the next block, in wei.', 'quantity'),
  {
    name: 'eth_getBlockReceipts',
    summary: 'The receipts of all transactions of a block.',
    params: [{ name: 'block', kind: kinds.stateBlock }],
    scope: { of: 'block', param: 0 },
    byHash: true,
    result: 'list',
    check: areReceiptsOfBlock,
    referencedBlocks: blocksOfReceipts,
    isBlockItself: true,
    nullable: true,
  },
  {
    name: 'eth_createAccessList',
    summary: 'The accounts and storage slots that a transaction would access, and the gas that it would use.',
    params: [transaction, stateBlock, stateOverrides],
    scope: { of: 'block', param: 1 },
    mayDiffer: true,
    result: 'object',
    check: checks.isAccessList,
  },
  {
    name: 'eth_simulateV1',
    summary: 'Simulates calls in blocks on top of a block, each on the state after the previous one.',
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
    summary: 'The transaction of an account with a nonce; not every node supports the method.',
    params: [
      { ...address, name: 'sender' },
      { name: 'nonce', kind: kinds.quantity },
    ],
    scope: { of: 'found', member: 'blockNumber' },
    result: 'object',
    check: checks.isTransactionOfSender,
    referencedBlocks: blockOfInclusion,
    smallBytes: SMALL_BYTES.transaction,
    nullable: true,
  },
];
