import * as kinds from './kinds.ts';
import type { Param } from './row.ts';

/**
 * Bytes of answers that are small by nature, with room for what nodes put around them and into their errors.
 * - one value: a number, a hash, a word of storage, a name and version.
 * - some members or values: a header of a chain with long extra data, ten blocks' fees with a hundred percentiles each.
 * - code: Ethereum's limit is 24 KiB (EIP-170), the largest known of any chain 2 MiB.
 * - a transaction: 32 MiB are 16 MiB of zero bytes, at 4 units of gas each; Ethereum takes 16.8 million units (EIP-7825).
 * - a receipt: 64 MiB are 130,000 logs of nothing, at 375 units of gas each: three times what Ethereum takes.
 */
export const SMALL_BYTES = {
  value: 64 * 1024,
  members: 1024 * 1024,
  code: 8 * 1024 * 1024,
  transaction: 32 * 1024 * 1024,
  receipt: 64 * 1024 * 1024,
} as const;

export const address: Param = { name: 'address', kind: kinds.address };
export const blockHash: Param = { name: 'blockHash', kind: kinds.hash, isBlockHash: true };
export const transactionHash: Param = { name: 'transactionHash', kind: kinds.hash };
export const index: Param = { name: 'index', kind: kinds.index };
export const block: Param = { name: 'block', kind: kinds.block };
export const stateBlock: Param = {
  name: 'block',
  kind: kinds.stateBlock,
  optional: true,
  otherwise: 'latest',
};
export const fullTransactions: Param = {
  name: 'fullTransactions',
  kind: kinds.boolean,
  optional: true,
  otherwise: false,
};
export const transaction: Param = { name: 'transaction', kind: kinds.transaction };
export const stateOverrides: Param = { name: 'stateOverrides', kind: kinds.overrides, optional: true };
export const blockOverrides: Param = { name: 'blockOverrides', kind: kinds.overrides, optional: true };
