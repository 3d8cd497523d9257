import { authorization, Transaction as Signer } from 'micro-eth-signer';
import type { Address, Data } from '../ethereum/traces/index.ts';
import type { Account } from './accounts.ts';

/** How a transaction is encoded: before EIP-2930, with an access list, with a fee cap, setting code (EIP-7702). */
export type TransactionType = 'legacy' | 'eip2930' | 'eip1559' | 'eip7702';

/** A transaction before it is signed. */
export interface Transaction {
  /** What is to be seen in its traces, in words. */
  readonly about: string;
  readonly from: Account;
  /** Left out: the transaction creates a contract, and `data` is its init code. */
  readonly to?: Address;
  /** Default: `eip1559`. */
  readonly type?: TransactionType;
  /** In wei. Default: 0. */
  readonly value?: bigint;
  readonly data?: Data;
  /** The limit. Default: `DEFAULT_GAS`. */
  readonly gas?: number;
  /** Addresses and storage keys that are announced (not for `legacy`). */
  readonly accessList?: readonly { readonly address: Address; readonly storageKeys: readonly string[] }[];
  /** For `eip7702`: this account takes on the code of that contract. */
  readonly delegation?: { readonly account: Account; readonly code: Address };
}

/** Enough for every shape but the deepest; thirty of them fit into a block. */
const DEFAULT_GAS = 1_000_000;

const GWEI = 10n ** 9n;
/** Above any base fee that blocks as empty as ours reach from the initial 1 gwei. */
const MAX_FEE = 20n * GWEI;
const TIP = GWEI / 10n;
/** What a transaction without a fee cap pays, whatever the base fee. */
const GAS_PRICE = 3n * GWEI;

/** The nonces of the accounts, by address; counts up with each transaction that is signed. */
export type Nonces = Map<Address, number>;

/**
 * Signs a transaction with the sender's next nonce. The signature is deterministic (RFC 6979): the same transaction
 * has the same bytes and the same hash, whatever node it is sent to.
 */
export function sign(transaction: Transaction, chainId: number, nonces: Nonces): Data {
  const { from, to, value = 0n, data = '0x', gas = DEFAULT_GAS, type = 'eip1559' } = transaction;
  const common = {
    chainId: BigInt(chainId),
    nonce: take(nonces, from.address),
    gasLimit: BigInt(gas),
    to: to ?? '0x',
    value,
    data,
  };
  const accessList = (transaction.accessList ?? []).map((entry) => ({
    address: entry.address,
    storageKeys: [...entry.storageKeys],
  }));
  const capped = { maxFeePerGas: MAX_FEE, maxPriorityFeePerGas: TIP, accessList };
  const prepared = () => {
    switch (type) {
      case 'legacy':
        return Signer.prepare({ ...common, type, gasPrice: GAS_PRICE }, false);
      case 'eip2930':
        return Signer.prepare({ ...common, type, gasPrice: GAS_PRICE, accessList }, false);
      case 'eip1559':
        return Signer.prepare({ ...common, type, ...capped }, false);
      case 'eip7702':
        return Signer.prepare(
          { ...common, type, ...capped, authorizationList: authorizations(transaction, chainId, nonces) },
          false,
        );
    }
  };
  return prepared().signBy(from.key, false).toHex() as Data; // hex of the signed bytes
}

function authorizations({ delegation }: Transaction, chainId: number, nonces: Nonces) {
  if (!delegation) return [];
  const { account, code } = delegation;
  const nonce = take(nonces, account.address);
  return [authorization.sign({ chainId: BigInt(chainId), address: code, nonce }, account.key, false)];
}

function take(nonces: Nonces, address: Address): bigint {
  const nonce = nonces.get(address);
  if (nonce === undefined) throw new Error(`sign: the nonce of ${address} is not known`);
  nonces.set(address, nonce + 1);
  return BigInt(nonce);
}
