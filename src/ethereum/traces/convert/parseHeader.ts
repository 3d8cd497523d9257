import type { Address, BlockHeader, Hash } from '../index.ts';
import type { Place } from './place.ts';
import { readAddress, readHash, readQuantity } from './readHex.ts';
import { asObject, listUpTo } from './readJson.ts';
import { NOBODY } from './restoreDestroyed.ts';
import { TraceFormatError } from './traceFormatError.ts';

/** A header with what the rewards of proof of work, and the gas rules, are computed from. */
export interface FullHeader extends BlockHeader {
  readonly miner: Address;
  /** Zero since the merge. */
  readonly difficulty: bigint;
  /** Of all the block's transactions together. */
  readonly gasUsed: bigint;
  readonly uncleHashes: readonly Hash[];
}

/** Most transactions of a block: 100 million gas pay for fewer than 5,000 plain transfers; other chains have more. */
const transactionList = listUpTo(1_000_000);
/** Ethereum allows two. */
const uncleList = listUpTo(16);

/**
 * The header from a node's answer to `eth_getBlockByNumber`, `eth_getBlockByHash` or `eth_getUncleBy…`; the
 * transactions may be hashes or whole.
 *
 * @throws TraceFormatError where the answer is not a block, or is the pending one.
 */
export function parseHeader(answer: unknown): FullHeader {
  const place: Place = { what: 'block header', index: -1 };
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
    miner: readAddress(members['miner'] ?? NOBODY, place, 'miner'),
    difficulty: BigInt(readQuantity(difficulty, place, 'difficulty')),
    gasUsed: BigInt(readQuantity(members['gasUsed'], place, 'gasUsed')),
    uncleHashes: uncleList(members['uncles'] ?? [], place, 'uncles').map((uncle, i) =>
      readHash(uncle, place, `uncles[${i}]`),
    ),
  };
}

function safeNumber(value: unknown, place: Place, member: string): number {
  const number = Number(readQuantity(value, place, member));
  if (!Number.isSafeInteger(number))
    throw new TraceFormatError(place, member, { expected: 'at most 2^53 - 1', got: value });
  return number;
}

/** With whole transactions asked for, the hash is a member of each. */
function hashOf(transaction: unknown): unknown {
  if (typeof transaction !== 'object' || transaction === null || !('hash' in transaction)) return transaction;
  return transaction.hash;
}
