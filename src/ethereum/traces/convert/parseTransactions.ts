import type { Address, Data, Hash, Quantity } from '../index.ts';
import type { ParseContext } from './json/parseContext.ts';
import { readAddress, readData, readHash, readQuantity } from './json/readHex.ts';
import { asObject, listUpTo } from './json/readJson.ts';
import type { FullHeader } from './parseHeader.ts';

/** Members of a transaction from which its intrinsic gas is computed, and against which its root frame is checked. */
export interface BlockTransaction {
  readonly hash: Hash;
  readonly from: Address;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly value: Quantity;
  /** Gas limit set by the sender. */
  readonly gas: bigint;
  readonly input: Data;
  /** Addresses of the access list. */
  readonly accessList: readonly Address[];
  readonly accessListKeys: number;
  /** Authorizations (EIP-7702) as the node returned them. */
  readonly authorizations: readonly unknown[];
}

/** Header and transactions of a block. A tracer's frames are completed with them, and checked against them. */
export interface FullBlock {
  readonly header: FullHeader;
  readonly transactions: readonly BlockTransaction[];
  /** Result of the step logger for the block. */
  readonly firstSteps?: unknown;
  /** Results of the step logger for the `chargeCalls` of transactions, by transaction hash. */
  readonly chargeTraces?: ReadonlyMap<Hash, readonly unknown[]> | undefined;
}

/** Limits each list in a block or transaction to a million entries, which exceed the gas limit of every block. */
const asList = listUpTo(1_000_000);

/**
 * Returns the transactions of a block.
 *
 * @param block the parsed `result` of `eth_getBlockByNumber` or `eth_getBlockByHash` with transaction objects.
 * @throws TraceFormatError naming the transaction and the invalid member.
 */
export function parseTransactions(block: unknown): BlockTransaction[] {
  const place: ParseContext = { what: 'block', index: -1 };
  const list = asList(asObject(block, place, '')['transactions'], place, 'transactions');
  return list.map((transaction, index) => parseTransaction(transaction, { what: 'transaction', index }));
}

function parseTransaction(value: unknown, place: ParseContext): BlockTransaction {
  const members = asObject(value, place, '');
  const to = members['to'];
  const accessList = asList(members['accessList'] ?? [], place, 'accessList').map((entry) =>
    asObject(entry, place, 'accessList'),
  );
  const keys = accessList.map(
    (entry) => asList(entry['storageKeys'] ?? [], place, 'accessList.storageKeys').length,
  );
  return {
    hash: readHash(members['hash'], place, 'hash'),
    from: readAddress(members['from'], place, 'from'),
    to: to === null || to === undefined ? null : readAddress(to, place, 'to'),
    value: readQuantity(members['value'] ?? '0x0', place, 'value'),
    gas: BigInt(readQuantity(members['gas'], place, 'gas')),
    input: readData(members['input'] ?? members['data'], place, 'input'),
    accessList: accessList.map((entry) => readAddress(entry['address'], place, 'accessList.address')),
    accessListKeys: keys.reduce((sum, count) => sum + count, 0),
    authorizations: asList(members['authorizationList'] ?? [], place, 'authorizationList'),
  };
}
