import type { Data } from '../../index.ts';
import { type Fork, isForkActive } from '../chains/forks.ts';
import type { BlockTransaction } from '../parseTransactions.ts';

/**
 * Returns the intrinsic gas of a transaction under the rules of a fork. In Parity's traces, `action.gas` of the root
 * frame is the gas limit minus the intrinsic gas; in geth's, it is the gas limit.
 *
 * Sources: Yellow Paper, EIP-2 (creation), EIP-2028 (data), EIP-2930 (access lists), EIP-3860 (init code), EIP-7702
 * (authorizations); for Amsterdam EIP-2780, EIP-7981 and EIP-8038 as implemented in go-ethereum 1.17.10.
 */
export function intrinsicGas(transaction: BlockTransaction, fork: Fork): bigint {
  const { zeros, others } = countBytes(transaction.input);
  const perOther = isForkActive('istanbul', fork) ? 16 : 68;
  const isCreation = transaction.to === null;
  const initCode = isCreation && isForkActive('shanghai', fork) ? 2 * Math.ceil((zeros + others) / 32) : 0;
  return BigInt(
    baseGas(transaction, fork) + 4 * zeros + perOther * others + initCode + listGas(transaction, fork),
  );
}

/** Returns the minimum gas of a transaction: EIP-7623 since Prague, EIP-7976 and EIP-7981 since Amsterdam. */
export function floorGas(transaction: BlockTransaction, fork: Fork): bigint | undefined {
  if (!isForkActive('prague', fork)) return undefined;
  const { zeros, others } = countBytes(transaction.input);
  if (!isForkActive('amsterdam', fork)) return BigInt(21_000 + 10 * (zeros + 4 * others));
  const listed = 20 * transaction.accessList.length + 32 * transaction.accessListKeys;
  return BigInt(baseGas(transaction, fork) + 64 * (zeros + others + listed));
}

function baseGas(transaction: BlockTransaction, fork: Fork): number {
  const isCreation = transaction.to === null;
  if (!isForkActive('amsterdam', fork))
    return isCreation && isForkActive('homestead', fork) ? 53_000 : 21_000;
  if (isCreation) return 12_000 + 12_000;
  if (transaction.to === transaction.from) return 12_000;
  return 12_000 + 3_000 + (transaction.value === '0x0' ? 0 : 6_000);
}

function listGas(transaction: BlockTransaction, fork: Fork): number {
  const { accessList, accessListKeys, authorizations } = transaction;
  return isForkActive('amsterdam', fork)
    ? (2_900 + 20 * 64) * accessList.length +
        (2_000 + 32 * 64) * accessListKeys +
        7_816 * authorizations.length
    : 2_400 * accessList.length + 1_900 * accessListKeys + 25_000 * authorizations.length;
}

function countBytes(data: Data): { zeros: number; others: number } {
  let zeros = 0;
  for (let i = 2; i < data.length; i += 2)
    if (data.charCodeAt(i) === ZERO_DIGIT && data.charCodeAt(i + 1) === ZERO_DIGIT) zeros++;
  return { zeros, others: (data.length - 2) / 2 - zeros };
}

const ZERO_DIGIT = 0x30;
