import { keccak_256 } from '@noble/hashes/sha3.js';
import { InvalidResponseError } from './invalidResponseError.ts';
import { listRoot } from './listRoot.ts';
import { transactionBytes } from './transactionBytes.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Networks of which it is known that a transaction's hash is that of its signed bytes and a block's transactions are those
 * of its root: Ethereum's own (Mainnet, Sepolia, Holesky, Hoodi). Others have transactions that nobody signed (Polygon,
 * rollups, impersonation on development chains), and an honest node of theirs would be accused.
 */
const NETWORKS: ReadonlySet<number> = new Set([1, 11_155_111, 17_000, 560_048]);

/** Each takes two hashes of some 20 µs and its place in a trie: more are not checked within one or two milliseconds. */
export const MAX_CHECKED_TRANSACTIONS = 32;
/** Hashing takes about 30 µs a KiB. */
const MAX_CHECKED_BYTES = 16 * 1024;
const NONE = new Uint8Array();

const EMPTY_ROOT = listRoot([]);

export const knowsTransactions = (chainId: string | undefined): boolean => NETWORKS.has(Number(chainId));

/** Checks that a transaction's hash is that of its bytes, where its form is known and it is not long. Throws InvalidResponseError. */
export function checkTransaction(transaction: Members): void {
  const bytes = transactionBytes(transaction);
  if (bytes !== undefined && bytes.length <= MAX_CHECKED_BYTES) checkHash(transaction, bytes);
}

/**
 * Checks that the transactions of a block whose header's hash was checked are those of its root: all of a short list of whole
 * transactions, and that a list is empty only where the root is that of none. Throws InvalidResponseError.
 */
export function checkTransactions({ number, transactions, transactionsRoot }: Members): void {
  if (!Array.isArray(transactions) || typeof transactionsRoot !== 'string') return;
  const list = transactions as readonly unknown[]; // a JSON array
  if ((list.length === 0) !== (transactionsRoot.toLowerCase() === EMPTY_ROOT))
    throw new InvalidResponseError(
      `block ${number} has a list of ${list.length} transactions; its root says that it has ${list.length === 0 ? 'some' : 'none'}`,
    );
  const whole = list.filter((entry): entry is Members => typeof entry === 'object' && entry !== null);
  if (whole.length === 0 || whole.length !== list.length || list.length > MAX_CHECKED_TRANSACTIONS) return;
  const encoded = whole.flatMap((transaction) => transactionBytes(transaction) ?? []);
  const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
  if (encoded.length !== whole.length || bytes > MAX_CHECKED_BYTES) return;
  for (const [i, transaction] of whole.entries()) checkHash(transaction, encoded[i] ?? NONE);
  if (listRoot(encoded) !== transactionsRoot.toLowerCase())
    throw new InvalidResponseError(`the transactions of block ${number} are not those of its root`);
}

function checkHash({ hash }: Members, bytes: Uint8Array): void {
  const actual = `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;
  if (String(hash).toLowerCase() !== actual)
    throw new InvalidResponseError(`a transaction says that its hash is ${hash}, its bytes have ${actual}`);
}
