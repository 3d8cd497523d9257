import * as kinds from './paramTypes.ts';
import type { Param, RelayedRow } from './row.ts';

/**
 * Maximum size in bytes of results that are always small, including the JSON-RPC response around the result and error
 * texts of nodes.
 * - value: a number, a hash, a storage word, or a client version.
 * - members: a header of a chain with long extra data.
 * - fees: 1,024 blocks with a hundred percentiles each; a percentile with 32 bytes has 69 characters.
 * - code: Ethereum limits code to 24 KiB (EIP-170); the largest known limit of any chain is 2 MiB.
 * - transaction: 32 MiB of JSON contain 16 MiB of zero bytes. At 4 gas each, they cost four times Ethereum's limit
 *   per transaction, 16.8 million gas (EIP-7825).
 * - receipt: 64 MiB of JSON contain 130,000 empty logs. At 375 gas each, they cost three times this limit.
 */
export const SMALL_BYTES = {
  value: 64 * 1024,
  members: 1024 * 1024,
  fees: 8 * 1024 * 1024,
  code: 8 * 1024 * 1024,
  transaction: 32 * 1024 * 1024,
  receipt: 64 * 1024 * 1024,
} as const;

/** Returns the maximum bytes of a result that is always small. Infinity for other results. */
export function smallBytesOf({ result, smallBytes }: RelayedRow): number {
  const isValue = result === 'quantity' || result === 'boolean' || result === 'text';
  return smallBytes ?? (isValue ? SMALL_BYTES.value : Infinity);
}

export const address: Param = { name: 'address', kind: kinds.address };
export const blockHash: Param = { name: 'blockHash', kind: kinds.hash, isBlockHash: true };
export const transactionHash: Param = { name: 'transactionHash', kind: kinds.hash };
export const index: Param = { name: 'index', kind: kinds.index };
export const block: Param = { name: 'block', kind: kinds.block };
export const stateBlock: Param = {
  name: 'block',
  kind: kinds.stateBlock,
  optional: true,
  defaultValue: 'latest',
};
export const fullTransactions: Param = {
  name: 'fullTransactions',
  kind: kinds.boolean,
  optional: true,
  defaultValue: false,
};
export const transaction: Param = { name: 'transaction', kind: kinds.transaction };
export const stateOverrides: Param = { name: 'stateOverrides', kind: kinds.overrides, optional: true };
export const blockOverrides: Param = { name: 'blockOverrides', kind: kinds.overrides, optional: true };
