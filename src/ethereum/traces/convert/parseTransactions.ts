import type { Address, Data, Hash, Quantity } from '../index.ts';
import type { Place } from './place.ts';
import { readAddress, readData, readHash, readQuantity } from './readHex.ts';
import { asList, asObject } from './readJson.ts';

/** What of a transaction decides the gas that it pays before it runs. */
export interface BlockTransaction {
  readonly hash: Hash;
  readonly from: Address;
  /** Null for one that creates a contract. */
  readonly to: Address | null;
  readonly value: Quantity;
  /** The gas limit that its sender set. */
  readonly gas: bigint;
  readonly input: Data;
  readonly accessListAddresses: number;
  readonly accessListKeys: number;
  readonly authorizations: number;
}

/** Most entries of any list in a transaction: a million cost more gas than any block has. */
const MAX_ENTRIES = 1_000_000;

/**
 * The transactions of a block, from a node's answer to `eth_getBlockByNumber` or `eth_getBlockByHash` with whole
 * transactions.
 *
 * @throws TraceFormatError naming the transaction and the member that is wrong.
 */
export function parseTransactions(block: unknown): BlockTransaction[] {
  const place: Place = { what: 'block', index: -1 };
  const list = asList(asObject(block, place, '')['transactions'], MAX_ENTRIES, place, 'transactions');
  return list.map((transaction, index) => parseTransaction(transaction, { what: 'transaction', index }));
}

function parseTransaction(value: unknown, place: Place): BlockTransaction {
  const members = asObject(value, place, '');
  const to = members['to'];
  const accessList = optionalList(members['accessList'], place, 'accessList').map((entry) =>
    asObject(entry, place, 'accessList'),
  );
  const keys = accessList.map(
    (entry) => optionalList(entry['storageKeys'], place, 'accessList.storageKeys').length,
  );
  return {
    hash: readHash(members['hash'], place, 'hash'),
    from: readAddress(members['from'], place, 'from'),
    to: to === null || to === undefined ? null : readAddress(to, place, 'to'),
    value: readQuantity(members['value'] ?? '0x0', place, 'value'),
    gas: BigInt(readQuantity(members['gas'], place, 'gas')),
    input: readData(members['input'] ?? members['data'], place, 'input'),
    accessListAddresses: accessList.length,
    accessListKeys: keys.reduce((sum, count) => sum + count, 0),
    authorizations: optionalList(members['authorizationList'], place, 'authorizationList').length,
  };
}

function optionalList(value: unknown, place: Place, member: string): readonly unknown[] {
  return value === undefined || value === null ? [] : asList(value, MAX_ENTRIES, place, member);
}
