import type { Address, Data, Hash, Quantity } from '../index.ts';
import type { FullHeader } from './parseHeader.ts';
import type { Place } from './place.ts';
import { readAddress, readData, readHash, readQuantity } from './readHex.ts';
import { asObject, listUpTo } from './readJson.ts';

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

/** What the traces of a block's transactions are made and checked with. */
export interface FullBlock {
  readonly header: FullHeader;
  /** All of the block's, from `parseTransactions`. */
  readonly transactions: readonly BlockTransaction[];
}

/** Most entries of any list in a transaction: a million cost more gas than any block has. */
const asList = listUpTo(1_000_000);

/**
 * The transactions of a block, from a node's answer to `eth_getBlockByNumber` or `eth_getBlockByHash` with whole
 * transactions.
 *
 * @throws TraceFormatError naming the transaction and the member that is wrong.
 */
export function parseTransactions(block: unknown): BlockTransaction[] {
  const place: Place = { what: 'block', index: -1 };
  const list = asList(asObject(block, place, '')['transactions'], place, 'transactions');
  return list.map((transaction, index) => parseTransaction(transaction, { what: 'transaction', index }));
}

function parseTransaction(value: unknown, place: Place): BlockTransaction {
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
    accessListAddresses: accessList.length,
    accessListKeys: keys.reduce((sum, count) => sum + count, 0),
    authorizations: asList(members['authorizationList'] ?? [], place, 'authorizationList').length,
  };
}
