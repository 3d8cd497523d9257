/**
 * Checks of nodes' results. Each throws InvalidResponseError if a result is inconsistent or does not match its request.
 */

import { keccak_256 } from '@noble/hashes/sha3.js';
import {
  checkBlock,
  checkReceipt,
  checkTransaction,
  InvalidResponseError,
  knowsTransactions,
} from '../../nodes/index.ts';
import { checkLogs } from './checkLogs.ts';
import type { LogFilter } from './logFilter.ts';
import { isObject } from './paramType.ts';
import type { RelayedRow } from './row.ts';

type Check = NonNullable<RelayedRow['check']>;

export const isOurChainId: Check = (_params, value, chainId) => same('chain id', value, chainId ?? value);

/** Checks that a network id is a number. It is not compared with the chain id, because they may differ. */
export const isNetworkId: Check = (_params, value, chainId) => {
  if (!/^\d+$/.test(String(value)))
    throw new InvalidResponseError(`net_version of chain ${chainId} is not a number`);
};

export const isHashOfData: Check = ([data], value) =>
  same(
    'hash',
    value,
    `0x${Buffer.from(keccak_256(Buffer.from(String(data).slice(2), 'hex'))).toString('hex')}`,
  );

export const isBlockWithNumber: Check = ([block], value, chainId) =>
  checkBlock(value, { number: block }, chainId);

export const isBlockWithHash: Check = ([hash], value, chainId) => checkBlock(value, { hash }, chainId);

export const isTransactionWithHash: Check = ([hash], value, chainId) => {
  same('transaction hash', value['hash'], hash);
  if (knowsTransactions(chainId)) checkTransaction(value);
};

export const isTransactionOfBlockHash: Check = ([hash, index], value, chainId) => {
  same('block hash', value['blockHash'], hash);
  isTransactionAt(index, value, chainId);
};

export const isTransactionOfBlockNumber: Check = ([block, index], value, chainId) => {
  if (String(block).startsWith('0x')) same('block number', value['blockNumber'], block);
  isTransactionAt(index, value, chainId);
};

function isTransactionAt(index: unknown, value: Parameters<Check>[1], chainId: string | undefined): void {
  same('transaction index', value['transactionIndex'], index);
  if (knowsTransactions(chainId)) checkTransaction(value);
}

export const isTransactionOfSender: Check = ([sender, nonce], value, chainId) => {
  same('sender', value['from'], sender);
  same('nonce', value['nonce'], nonce);
  if (knowsTransactions(chainId)) checkTransaction(value);
};

/** Checks the result of eth_createAccessList. It has an additional member `error` if the simulated call failed. */
export const isAccessList: Check = (_params, { accessList, gasUsed }) => {
  const isList =
    Array.isArray(accessList) && accessList.every((entry) => isObject(entry) && 'address' in entry);
  if (!isList || typeof gasUsed !== 'string')
    throw new InvalidResponseError('the result is not an access list with gasUsed');
};

export const isReceiptOfTransaction: Check = ([hash], value) => checkReceipt(value, hash);

export const isProofOfAccount: Check = ([address], value) => same('address', value['address'], address);

export const areLogsOfFilter: Check = ([filter], value) =>
  checkLogs(filter as LogFilter, value as unknown as readonly unknown[]); // the parameter type and the result shape were checked

function same(what: string, got: unknown, wanted: unknown): void {
  if (String(got).toLowerCase() !== String(wanted).toLowerCase())
    throw new InvalidResponseError(`expected ${what} ${JSON.stringify(wanted)}, got ${JSON.stringify(got)}`);
}
