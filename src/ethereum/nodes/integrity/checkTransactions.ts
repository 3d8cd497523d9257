import { keccak_256 } from '@noble/hashes/sha3.js';
import { InvalidResponseError } from './invalidResponseError.ts';
import { listRoot } from './listRoot.ts';
import { transactionBytes } from './transactionBytes.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Chain ids of Mainnet, Sepolia, Holesky and Hoodi, where a transaction's hash is the hash of its signed bytes. Other
 * networks have unsigned transactions (Polygon, rollups, impersonation), so honest nodes would fail the check.
 */
const NETWORKS: ReadonlySet<number> = new Set([1, 11_155_111, 17_000, 560_048]);

/** Maximum number of checked transactions. The check of so many takes 1 to 2 ms: two hashes each, and a trie. */
export const MAX_CHECKED_TRANSACTIONS = 32;
/** Maximum total size of checked transactions in bytes. Hashing takes about 30 µs per KiB. */
const MAX_CHECKED_BYTES = 16 * 1024;
const NONE = new Uint8Array();

const EMPTY_ROOT = listRoot([]);

export const knowsTransactions = (chainId: string | undefined): boolean => NETWORKS.has(Number(chainId));

/** Checks the hash of a transaction that is short and of a known type. Throws InvalidResponseError. */
export function checkTransaction(transaction: Members): void {
  const bytes = transactionBytes(transaction);
  if (bytes !== undefined && bytes.length <= MAX_CHECKED_BYTES) checkHash(transaction, bytes);
}

/**
 * Checks the transactions of a block whose header was checked. The list must be empty if and only if the header has
 * the root of an empty list. For a short list of full transactions, computes and compares the root. Throws
 * InvalidResponseError.
 */
export function checkTransactions({ number, transactions, transactionsRoot }: Members): void {
  if (!Array.isArray(transactions) || typeof transactionsRoot !== 'string') return;
  const list = transactions as readonly unknown[]; // a JSON array
  if ((list.length === 0) !== (transactionsRoot.toLowerCase() === EMPTY_ROOT))
    throw new InvalidResponseError(
      `block ${number} has a list of ${list.length} transactions, but its root requires ${list.length === 0 ? 'some' : 'none'}`,
    );
  const whole = list.filter((entry): entry is Members => typeof entry === 'object' && entry !== null);
  if (whole.length === 0 || whole.length !== list.length || list.length > MAX_CHECKED_TRANSACTIONS) return;
  const encoded = whole.flatMap((transaction) => transactionBytes(transaction) ?? []);
  const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
  if (encoded.length !== whole.length || bytes > MAX_CHECKED_BYTES) return;
  for (const [i, transaction] of whole.entries()) checkHash(transaction, encoded[i] ?? NONE);
  if (listRoot(encoded) !== transactionsRoot.toLowerCase())
    throw new InvalidResponseError(`the transactions of block ${number} do not match its root`);
}

function checkHash({ hash }: Members, bytes: Uint8Array): void {
  const actual = `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;
  if (String(hash).toLowerCase() !== actual)
    throw new InvalidResponseError(`a transaction has hash ${hash}, but its bytes hash to ${actual}`);
}
