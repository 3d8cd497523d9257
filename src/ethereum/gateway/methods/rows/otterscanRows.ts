import { otsHasCode } from '../../traceIndex/otterscan/accountCode.ts';
import {
  erigonHeader,
  otsBlockDetails,
  otsBlockDetailsByHash,
  otsBlockTransactions,
} from '../../traceIndex/otterscan/blockDetails.ts';
import { otsContractCreator } from '../../traceIndex/otterscan/contractCreator.ts';
import { MAX_PAGE_TRANSACTIONS } from '../../traceIndex/otterscan/findTransactions.ts';
import { searchTransactions } from '../../traceIndex/otterscan/searchTransactions.ts';
import { otsSenderAndNonce } from '../../traceIndex/otterscan/senderAndNonce.ts';
import {
  otsInternalOperations,
  otsTraceTransaction,
  otsTransactionError,
} from '../../traceIndex/otterscan/transactionFrames.ts';
import { address, blockHash, stateBlock, transactionHash } from '../commonParams.ts';
import type { JsonSchema } from '../paramType.ts';
import * as kinds from '../paramTypes.ts';
import type { IndexedRow, Param } from '../row.ts';

/** Version of Otterscan's API. Otterscan requires 8. */
const API_LEVEL = 8;
/** Maximum page size. Equal to Erigon's default, and to the page size that Otterscan requests. */
const MAX_PAGE_SIZE = 25;

const block: Param = { name: 'block', kind: kinds.minedBlock };
const pageSize: Param = { name: 'pageSize', kind: kinds.countUpTo(MAX_PAGE_SIZE) };
const PAGE_LIMITS = `pageSize at most ${MAX_PAGE_SIZE}`;
const SEARCH_PARAMS: readonly Param[] = [address, { name: 'blockNumber', kind: kinds.index }, pageSize];
const SEARCH_LIMITS = `${PAGE_LIMITS}; the last block of a page is complete, with at most ${MAX_PAGE_TRANSACTIONS} transactions in all`;

const object = { type: 'object' };
const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items });
const hash = kinds.hexText('{64}');

/** Methods of Otterscan that are not Ethereum's, composed from the index and from relayed methods. */
export const OTTERSCAN_ROWS: readonly IndexedRow[] = [
  {
    name: 'erigon_getHeaderByNumber',
    summary: 'The header of a block.',
    params: [block],
    scope: { of: 'composed' },
    resultSchema: orNull(object),
    handler: erigonHeader,
  },
  {
    name: 'ots_getApiLevel',
    summary: "The version of Otterscan's API.",
    params: [],
    scope: { of: 'composed' },
    resultSchema: { const: API_LEVEL },
    handler: () => () => Buffer.from(String(API_LEVEL)),
  },
  {
    name: 'ots_hasCode',
    summary: 'Whether an account has code.',
    params: [address, stateBlock],
    scope: { of: 'composed' },
    resultSchema: { type: 'boolean' },
    handler: otsHasCode,
  },
  {
    name: 'ots_traceTransaction',
    summary: 'The call tree of a transaction, as a list.',
    params: [transactionHash],
    scope: { of: 'index' },
    resultSchema: listOf(object),
    handler: otsTraceTransaction,
  },
  {
    name: 'ots_getInternalOperations',
    summary: 'The transfers, creations and destructions below the root of a transaction.',
    params: [transactionHash],
    scope: { of: 'index' },
    resultSchema: listOf(object),
    handler: otsInternalOperations,
  },
  {
    name: 'ots_getTransactionError',
    summary: 'The revert data of a transaction.',
    params: [transactionHash],
    scope: { of: 'index' },
    resultSchema: kinds.hexText('*'),
    handler: otsTransactionError,
  },
  {
    name: 'ots_getTransactionBySenderAndNonce',
    summary: 'The hash of the transaction of a sender with a nonce.',
    params: [
      { ...address, name: 'sender' },
      { name: 'nonce', kind: kinds.index },
    ],
    scope: { of: 'composed' },
    resultSchema: orNull(hash),
    handler: otsSenderAndNonce,
  },
  {
    name: 'ots_getContractCreator',
    summary: 'The transaction and the account that created a contract.',
    params: [address],
    scope: { of: 'composed' },
    resultSchema: orNull(object),
    handler: otsContractCreator,
  },
  {
    name: 'ots_getBlockDetails',
    summary: 'A block without its transactions, its rewards and its fees.',
    params: [block],
    scope: { of: 'composed' },
    resultSchema: orNull(object),
    handler: otsBlockDetails,
  },
  {
    name: 'ots_getBlockDetailsByHash',
    summary: 'A block by its hash, without its transactions, its rewards and its fees.',
    params: [blockHash],
    scope: { of: 'composed' },
    resultSchema: object,
    handler: otsBlockDetailsByHash,
  },
  {
    name: 'ots_getBlockTransactions',
    summary: 'A page of the transactions of a block with their receipts, from the end of the block.',
    params: [block, { name: 'page', kind: kinds.index }, pageSize],
    limits: PAGE_LIMITS,
    scope: { of: 'composed' },
    resultSchema: orNull(object),
    handler: otsBlockTransactions,
  },
  {
    name: 'ots_searchTransactionsBefore',
    summary: 'The transactions of an address before a block; block 0 means from the head.',
    params: SEARCH_PARAMS,
    limits: SEARCH_LIMITS,
    scope: { of: 'composed' },
    resultSchema: object,
    handler: searchTransactions('before'),
  },
  {
    name: 'ots_searchTransactionsAfter',
    summary: 'The transactions of an address after a block; block 0 means from the genesis block.',
    params: SEARCH_PARAMS,
    limits: SEARCH_LIMITS,
    scope: { of: 'composed' },
    resultSchema: object,
    handler: searchTransactions('after'),
  },
];
