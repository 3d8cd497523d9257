import { keccak_256 } from '@noble/hashes/sha3.js';
import {
  checkBlock,
  checkReceipt,
  checkTransaction,
  InvalidResponseError,
  knowsTransactions,
  NodeError,
} from '../../nodes/index.ts';
import { checkLogs } from './checkLogs.ts';
import type { LogFilter } from './logFilter.ts';
import type { MethodRow, ResultShape } from './row.ts';

type Params = readonly unknown[];
type Members = Readonly<Record<string, unknown>>;

/**
 * Checks of a node's answer that cost microseconds: its shape, that it is about what was asked, and that what it says
 * agrees with itself. Throws InvalidResponseError, or NodeError for the wrong shape. Parameters are canonical.
 */
export function checkAnswer(
  row: MethodRow,
  params: Params,
  value: unknown,
  chainId: string | undefined,
): void {
  if (!SHAPES[row.result](value))
    throw new NodeError('nonsense', `${row.name} was answered with something that is no ${row.result}`);
  CHECKS[row.name]?.(params, value as Members, chainId); // the shape was checked above
}

const hex = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

const SHAPES: Readonly<Record<ResultShape, (value: unknown) => boolean>> = {
  quantity: hex(/^0x[0-9a-f]{1,64}$/i),
  data: hex(/^0x[0-9a-f]*$/i),
  text: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  list: Array.isArray,
  any: () => true,
};

const CHECKS: Readonly<Record<string, (params: Params, value: Members, chainId?: string) => void>> = {
  eth_chainId: (_params, value, chainId) => same('chain id', value, chainId ?? value),
  net_version: (_params, value, chainId) => {
    // Some chains have a network id that differs; none changes it for another number of ours.
    if (!/^\d+$/.test(String(value)))
      throw new InvalidResponseError(`net_version of chain ${chainId} is no number`);
  },
  web3_sha3: ([data], value) =>
    same(
      'hash',
      value,
      `0x${Buffer.from(keccak_256(Buffer.from(String(data).slice(2), 'hex'))).toString('hex')}`,
    ),
  eth_getBlockByNumber: ([block], value, chainId) => checkBlock(value, { number: block }, chainId),
  eth_getBlockByHash: ([hash], value, chainId) => checkBlock(value, { hash }, chainId),
  eth_getTransactionByHash([hash], value, chainId) {
    same('transaction hash', value['hash'], hash);
    if (knowsTransactions(chainId)) checkTransaction(value);
  },
  eth_getTransactionByBlockHashAndIndex([hash, index], value, chainId) {
    same('block hash', value['blockHash'], hash);
    same('transaction index', value['transactionIndex'], index);
    if (knowsTransactions(chainId)) checkTransaction(value);
  },
  eth_getTransactionByBlockNumberAndIndex([block, index], value, chainId) {
    if (String(block).startsWith('0x')) same('block number', value['blockNumber'], block);
    same('transaction index', value['transactionIndex'], index);
    if (knowsTransactions(chainId)) checkTransaction(value);
  },
  eth_getTransactionReceipt: ([hash], value) => checkReceipt(value, hash),
  eth_getProof: ([address], value) => same('address', value['address'], address),
  eth_getLogs: ([filter], value) => checkLogs(filter as LogFilter, value as unknown as readonly unknown[]), // a list
};

/** Refuses an answer about something else. */
export function same(what: string, got: unknown, wanted: unknown): void {
  if (String(got).toLowerCase() !== String(wanted).toLowerCase())
    throw new InvalidResponseError(
      `${what} ${JSON.stringify(wanted)} was asked for, ${JSON.stringify(got)} came`,
    );
}
