/** The checks that rows of the table name: each throws InvalidResponseError where an answer is not about what was asked, or contradicts itself. */

import { keccak_256 } from '@noble/hashes/sha3.js';
import {
  checkBlock,
  checkReceipt,
  checkTransaction,
  InvalidResponseError,
  knowsTransactions,
} from '../../nodes/index.ts';
import { checkLogs } from './checkLogs.ts';
import { isObject } from './kind.ts';
import type { LogFilter } from './logFilter.ts';
import type { RelayedRow } from './row.ts';

type Check = NonNullable<RelayedRow['check']>;

export const isOurChainId: Check = (_params, value, chainId) => same('chain id', value, chainId ?? value);

/** Some chains have a network id that differs from the chain's; none has one that is no number. */
export const isNetworkId: Check = (_params, value, chainId) => {
  if (!/^\d+$/.test(String(value)))
    throw new InvalidResponseError(`net_version of chain ${chainId} is no number`);
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

/** That of a call that fails has an `error` besides. */
export const isAccessList: Check = (_params, { accessList, gasUsed }) => {
  const isList =
    Array.isArray(accessList) && accessList.every((entry) => isObject(entry) && 'address' in entry);
  if (!isList || typeof gasUsed !== 'string')
    throw new InvalidResponseError('an access list and gasUsed were asked for, something else came');
};

export const isReceiptOfTransaction: Check = ([hash], value) => checkReceipt(value, hash);

export const isProofOfAccount: Check = ([address], value) => same('address', value['address'], address);

export const areLogsOfFilter: Check = ([filter], value) =>
  checkLogs(filter as LogFilter, value as unknown as readonly unknown[]); // what the parameter's kind made; a list, as the row says

/** Refuses an answer about something else. */
function same(what: string, got: unknown, wanted: unknown): void {
  if (String(got).toLowerCase() !== String(wanted).toLowerCase())
    throw new InvalidResponseError(
      `${what} ${JSON.stringify(wanted)} was asked for, ${JSON.stringify(got)} came`,
    );
}
