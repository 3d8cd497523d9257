import { authorization, Transaction as Signer } from 'micro-eth-signer';
import type { Address, Data } from '../../../src/ethereum/traces/index.ts';
import type { Account } from './accounts.ts';

/** Encoding of a transaction: before EIP-2930, with an access list, with a fee cap, setting code (EIP-7702). */
export type TransactionType = 'legacy' | 'eip2930' | 'eip1559' | 'eip7702';

/** A transaction before it is signed. */
export interface Transaction {
  /** Description of the shape of its traces. */
  readonly about: string;
  readonly from: Account;
  /** Default: the transaction creates a contract, and `data` is its init code. */
  readonly to?: Address;
  /** Default: `eip1559`. */
  readonly type?: TransactionType;
  /** In wei. Default: 0. */
  readonly value?: bigint;
  readonly data?: Data;
  /** Gas limit. Default: `DEFAULT_GAS`. */
  readonly gas?: number;
  /** Announced addresses and storage keys (not for `legacy`). */
  readonly accessList?: readonly { readonly address: Address; readonly storageKeys: readonly string[] }[];
  /** Authorizations of an `eip7702` transaction. */
  readonly delegations?: readonly Delegation[];
}

/** Sets the code of an account to a delegation to a contract. */
export interface Delegation {
  readonly account: Account;
  readonly code: Address;
  /** Nonce for an authorization that is not valid. Default: the next nonce of the account. */
  readonly wrongNonce?: bigint;
}

/** Enough for every shape except the deepest; thirty of them fit into a block. */
const DEFAULT_GAS = 1_000_000;

const GWEI = 10n ** 9n;
/** Above any base fee that such empty blocks reach from the initial 1 gwei. */
const MAX_FEE = 20n * GWEI;
const TIP = GWEI / 10n;
/** Gas price of a transaction without a fee cap, for any base fee. */
const GAS_PRICE = 3n * GWEI;

/** The next nonce of each account, by address; incremented with each signed transaction. */
export type Nonces = Map<Address, number>;

/**
 * Signs a transaction with the sender's next nonce. The signature is deterministic (RFC 6979), so the same
 * transaction has the same bytes and hash on every node.
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

function authorizations({ delegations = [] }: Transaction, chainId: number, nonces: Nonces) {
  return delegations.map(({ account, code, wrongNonce }) => {
    const nonce = wrongNonce ?? take(nonces, account.address);
    return authorization.sign({ chainId: BigInt(chainId), address: code, nonce }, account.key, false);
  });
}

function take(nonces: Nonces, address: Address): bigint {
  const nonce = nonces.get(address);
  if (nonce === undefined) throw new Error(`sign: the nonce of ${address} is unknown`);
  nonces.set(address, nonce + 1);
  return BigInt(nonce);
}
