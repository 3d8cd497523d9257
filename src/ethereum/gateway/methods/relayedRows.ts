import { overLimit } from '../../jsonrpc/index.ts';
import { blockItself, blockOfInclusion, blocksOfLogs } from './blocksIn.ts';
import * as checks from './checks.ts';
import * as kinds from './kinds.ts';
import { logFilter } from './logFilter.ts';
import { checkLogRange, MAX_LOG_BLOCKS } from './logRange.ts';
import type { Param, RelayedRow } from './row.ts';

/** Blocks of an eth_feeHistory (docs/decisions/gateway.md). */
const MAX_FEE_HISTORY_BLOCKS = 10;

/**
 * Bytes of answers that are small by nature, with room for what nodes put around them and into their errors.
 * - one value: a number, a hash, a word of storage, a name and version.
 * - some members or values: a header of a chain with long extra data, ten blocks' fees with a hundred percentiles each.
 * - code: Ethereum's limit is 24 KiB (EIP-170), the largest known of any chain 2 MiB.
 * - a transaction: 32 MiB are 16 MiB of zero bytes, at 4 units of gas each; Ethereum takes 16.8 million units (EIP-7825).
 * - a receipt: 64 MiB are 130,000 logs of nothing, at 375 units of gas each: three times what Ethereum takes.
 */
const SMALL_BYTES = {
  value: 64 * 1024,
  members: 1024 * 1024,
  code: 8 * 1024 * 1024,
  transaction: 32 * 1024 * 1024,
  receipt: 64 * 1024 * 1024,
} as const;

const address: Param = { name: 'address', kind: kinds.address };
const blockHash: Param = { name: 'blockHash', kind: kinds.hash, isBlockHash: true };
const transactionHash: Param = { name: 'transactionHash', kind: kinds.hash };
const index: Param = { name: 'index', kind: kinds.index };
const block: Param = { name: 'block', kind: kinds.block };
const stateBlock: Param = { name: 'block', kind: kinds.stateBlock, optional: true, otherwise: 'latest' };
const fullTransactions: Param = {
  name: 'fullTransactions',
  kind: kinds.boolean,
  optional: true,
  otherwise: false,
};
const transaction: Param = { name: 'transaction', kind: kinds.transaction };
const stateOverrides: Param = { name: 'stateOverrides', kind: kinds.overrides, optional: true };
const blockOverrides: Param = { name: 'blockOverrides', kind: kinds.overrides, optional: true };

/** The methods that nodes answer: those of the reference gateway, in the order of its documentation. */
export const RELAYED_ROWS: readonly RelayedRow[] = [
  {
    name: 'web3_clientVersion',
    summary: 'Name and version of the software of a node.',
    params: [],
    scope: { of: 'moment' },
    result: 'text',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'web3_sha3',
    summary: 'The Keccak-256 hash of bytes.',
    params: [{ name: 'data', kind: kinds.data }],
    scope: { of: 'constant' },
    result: 'data',
    check: checks.isHashOfData,
    isProven: true,
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'net_version',
    summary: 'The id of the network, as a decimal string.',
    params: [],
    scope: { of: 'constant' },
    result: 'text',
    check: checks.isNetworkId,
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'net_listening',
    summary: 'Whether a node listens for peers.',
    params: [],
    scope: { of: 'moment' },
    result: 'boolean',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_syncing',
    summary: 'How far a node that is still catching up has come, or false.',
    params: [],
    scope: { of: 'moment' },
    result: 'any',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_mining',
    summary: 'Whether a node makes blocks.',
    params: [],
    scope: { of: 'moment' },
    result: 'boolean',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_gasPrice',
    summary: 'A price for gas that will do now.',
    params: [],
    scope: { of: 'moment' },
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_feeHistory',
    summary: 'Base fees, use of gas and paid tips of the latest blocks.',
    params: [
      { name: 'blockCount', kind: kinds.index },
      { name: 'newestBlock', kind: kinds.block },
      { name: 'rewardPercentiles', kind: kinds.percentiles, optional: true, otherwise: [] },
    ],
    limits: `at most ${MAX_FEE_HISTORY_BLOCKS} blocks`,
    checkLimits([blockCount]) {
      const requested = Number(blockCount);
      if (requested > MAX_FEE_HISTORY_BLOCKS)
        throw overLimit('blockCount', MAX_FEE_HISTORY_BLOCKS, requested);
    },
    scope: { of: 'block', param: 1 },
    mayDiffer: true,
    result: 'object',
    smallBytes: SMALL_BYTES.members,
  },
  {
    name: 'eth_blockNumber',
    summary: 'The number of the latest block.',
    params: [],
    scope: { of: 'head' },
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_chainId',
    summary: 'The id of the chain.',
    params: [],
    scope: { of: 'constant' },
    result: 'quantity',
    check: checks.isOurChainId,
    isProven: true,
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_getBalance',
    summary: 'The balance of an account, in wei.',
    params: [address, stateBlock],
    scope: { of: 'block', param: 1 },
    byHash: true,
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_getStorageAt',
    summary: 'A slot of the storage of a contract.',
    params: [address, { name: 'slot', kind: kinds.slot }, stateBlock],
    scope: { of: 'block', param: 2 },
    byHash: true,
    result: 'data',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_getTransactionCount',
    summary: 'The number of transactions that an account has sent.',
    params: [address, stateBlock],
    scope: { of: 'block', param: 1 },
    byHash: true,
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_getBlockTransactionCountByHash',
    summary: 'The number of transactions of a block.',
    params: [blockHash],
    scope: { of: 'moment' },
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
    nullable: true,
  },
  {
    name: 'eth_getBlockTransactionCountByNumber',
    summary: 'The number of transactions of a block.',
    params: [block],
    scope: { of: 'block', param: 0 },
    result: 'quantity',
    isBlockItself: true,
    smallBytes: SMALL_BYTES.value,
    nullable: true,
  },
  {
    name: 'eth_getUncleCountByBlockHash',
    summary: 'The number of uncles of a block.',
    params: [blockHash],
    scope: { of: 'moment' },
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
    nullable: true,
  },
  {
    name: 'eth_getUncleCountByBlockNumber',
    summary: 'The number of uncles of a block.',
    params: [block],
    scope: { of: 'block', param: 0 },
    result: 'quantity',
    smallBytes: SMALL_BYTES.value,
    nullable: true,
  },
  {
    name: 'eth_getCode',
    summary: 'The code of a contract.',
    params: [address, stateBlock],
    scope: { of: 'block', param: 1 },
    byHash: true,
    result: 'data',
    smallBytes: SMALL_BYTES.code,
  },
  {
    name: 'eth_sendRawTransaction',
    summary: 'Sends a signed transaction; never hedged, and never sent twice.',
    params: [{ name: 'transaction', kind: kinds.data }],
    scope: { of: 'moment' },
    result: 'data',
    // A hash; an error may repeat what was sent.
    smallBytes: SMALL_BYTES.code,
    once: true,
  },
  {
    name: 'eth_call',
    summary: 'Carries out a call without sending a transaction.',
    params: [transaction, stateBlock, stateOverrides, blockOverrides],
    scope: { of: 'block', param: 1 },
    byHash: true,
    mayDiffer: true,
    result: 'data',
  },
  {
    name: 'eth_estimateGas',
    summary: 'The gas that a transaction would use.',
    params: [transaction, stateBlock, stateOverrides, blockOverrides],
    scope: { of: 'block', param: 1 },
    mayDiffer: true,
    result: 'quantity',
  },
  {
    name: 'eth_getBlockByHash',
    summary: 'A block by its hash.',
    params: [blockHash, fullTransactions],
    scope: { of: 'found', member: 'number' },
    result: 'object',
    check: checks.isBlockWithHash,
    nullable: true,
  },
  {
    name: 'eth_getBlockByNumber',
    summary: 'A block by its number.',
    params: [block, fullTransactions],
    scope: { of: 'block', param: 0 },
    result: 'object',
    check: checks.isBlockWithNumber,
    blocksIn: blockItself,
    isBlockItself: true,
    nullable: true,
  },
  {
    name: 'eth_getTransactionByHash',
    summary: 'A transaction by its hash.',
    params: [transactionHash],
    scope: { of: 'found', member: 'blockNumber' },
    result: 'object',
    check: checks.isTransactionWithHash,
    blocksIn: blockOfInclusion,
    smallBytes: SMALL_BYTES.transaction,
    nullable: true,
  },
  {
    name: 'eth_getTransactionByBlockHashAndIndex',
    summary: "A transaction by its block's hash and its place in it.",
    params: [blockHash, index],
    scope: { of: 'found', member: 'blockNumber' },
    result: 'object',
    check: checks.isTransactionOfBlockHash,
    smallBytes: SMALL_BYTES.transaction,
    nullable: true,
  },
  {
    name: 'eth_getTransactionByBlockNumberAndIndex',
    summary: "A transaction by its block's number and its place in it.",
    params: [block, index],
    scope: { of: 'block', param: 0 },
    result: 'object',
    check: checks.isTransactionOfBlockNumber,
    blocksIn: blockOfInclusion,
    smallBytes: SMALL_BYTES.transaction,
    nullable: true,
  },
  {
    name: 'eth_getTransactionReceipt',
    summary: 'What came of a transaction: status, gas, logs.',
    params: [transactionHash],
    scope: { of: 'found', member: 'blockNumber' },
    result: 'object',
    check: checks.isReceiptOfTransaction,
    blocksIn: blockOfInclusion,
    smallBytes: SMALL_BYTES.receipt,
    nullable: true,
  },
  {
    name: 'eth_getUncleByBlockHashAndIndex',
    summary: "An uncle by its block's hash and its place in it.",
    params: [blockHash, index],
    scope: { of: 'moment' },
    result: 'object',
    smallBytes: SMALL_BYTES.members,
    nullable: true,
  },
  {
    name: 'eth_getUncleByBlockNumberAndIndex',
    summary: "An uncle by its block's number and its place in it.",
    params: [block, index],
    scope: { of: 'block', param: 0 },
    result: 'object',
    smallBytes: SMALL_BYTES.members,
    nullable: true,
  },
  {
    name: 'eth_getLogs',
    summary: 'The logs of a block or a range of blocks, by address and topics.',
    params: [{ name: 'filter', kind: logFilter }],
    limits: `at most ${MAX_LOG_BLOCKS} blocks, both ends counted`,
    checkLimits: ([filter]) => checkLogRange(filter),
    scope: { of: 'logs' },
    result: 'list',
    check: checks.areLogsOfFilter,
    blocksIn: blocksOfLogs,
  },
  {
    name: 'eth_getWork',
    summary: 'Work for miners; nodes of chains with proof of stake refuse it.',
    params: [],
    scope: { of: 'moment' },
    result: 'list',
    smallBytes: SMALL_BYTES.value,
  },
  {
    name: 'eth_getProof',
    summary: 'An account and slots of its storage with their Merkle proofs.',
    params: [address, { name: 'slots', kind: kinds.slots }, stateBlock],
    scope: { of: 'block', param: 2 },
    byHash: true,
    result: 'object',
    check: checks.isProofOfAccount,
  },
];
