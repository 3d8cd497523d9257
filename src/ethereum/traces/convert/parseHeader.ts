import type { Address, BlockHeader, Hash } from '../index.ts';
import { ZERO_ADDRESS } from './frame.ts';
import type { ParseContext } from './json/parseContext.ts';
import { readAddress, readHash, readQuantity } from './json/readHex.ts';
import { asObject, listUpTo } from './json/readJson.ts';
import { TraceFormatError } from './json/traceFormatError.ts';

/** Block header with the members on which rewards of mined blocks and the gas of root frames depend. */
export interface FullHeader extends BlockHeader {
  readonly miner: Address;
  /** Zero since the merge. */
  readonly difficulty: bigint;
  readonly gasUsed: bigint;
  readonly uncleHashes: readonly Hash[];
}

/** Limits a block to a million transactions. 100 million gas pay for fewer than 5,000; other chains have more. */
const transactionList = listUpTo(1_000_000);
/** Limits a block to 16 uncles. Ethereum allows two per block; other chains may allow more. */
const uncleList = listUpTo(16);

/**
 * Returns the header in a result of `eth_getBlockByNumber`, `eth_getBlockByHash` or `eth_getUncleBy…`. The result may
 * contain transactions as hashes or as objects.
 *
 * @throws TraceFormatError if the result is not a block, or is the pending block.
 */
export function parseHeader(answer: unknown): FullHeader {
  const place: ParseContext = { what: 'block header', index: -1 };
  const members = asObject(answer, place, '');
  const difficulty = members['difficulty'] ?? '0x0';
  return {
    number: safeNumber(members['number'], place, 'number'),
    hash: readHash(members['hash'], place, 'hash'),
    parentHash: readHash(members['parentHash'], place, 'parentHash'),
    timestamp: safeNumber(members['timestamp'], place, 'timestamp'),
    transactionHashes: transactionList(members['transactions'] ?? [], place, 'transactions').map(
      (transaction, i) => readHash(hashOf(transaction), place, `transactions[${i}]`),
    ),
    miner: readAddress(members['miner'] ?? ZERO_ADDRESS, place, 'miner'),
    difficulty: BigInt(readQuantity(difficulty, place, 'difficulty')),
    gasUsed: BigInt(readQuantity(members['gasUsed'], place, 'gasUsed')),
    uncleHashes: uncleList(members['uncles'] ?? [], place, 'uncles').map((uncle, i) =>
      readHash(uncle, place, `uncles[${i}]`),
    ),
  };
}

function safeNumber(value: unknown, place: ParseContext, member: string): number {
  const number = Number(readQuantity(value, place, member));
  if (!Number.isSafeInteger(number))
    throw new TraceFormatError(place, member, { expected: 'at most 2^53 - 1', got: value });
  return number;
}

/** Returns the hash of a transaction, which a block lists as an object or as a hash. */
function hashOf(transaction: unknown): unknown {
  if (typeof transaction !== 'object' || transaction === null || !('hash' in transaction)) return transaction;
  return transaction.hash;
}
