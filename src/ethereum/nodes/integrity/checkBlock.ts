import { checkBlockHash } from './blockHash.ts';
import { checkTransactions, knowsTransactions } from './checkTransactions.ts';
import { InvalidResponseError } from './invalidResponseError.ts';

/**
 * Checks that a block is the one that was asked for, that its hash is its header's, and that its transactions are those
 * of the header, as far as they tell. Throws InvalidResponseError.
 */
export function checkBlock(
  block: Readonly<Record<string, unknown>>,
  asked: { readonly number?: unknown; readonly hash?: unknown },
  chainId: string | undefined,
): void {
  const { number, hash, transactions } = block;
  if (typeof asked.number === 'string' && asked.number.startsWith('0x') && number !== asked.number)
    throw new InvalidResponseError(`block ${asked.number} was asked for, block ${number} came`);
  if (asked.hash !== undefined && String(hash).toLowerCase() !== asked.hash)
    throw new InvalidResponseError(`block ${asked.hash} was asked for, block ${hash} came`);
  if (!Array.isArray(transactions))
    throw new InvalidResponseError(`block ${number} has no list of transactions`);
  // The pending block has no hash yet, and no place for its transactions.
  if (hash === null || hash === undefined || asked.number === 'pending') return;
  for (const [i, transaction] of (transactions as readonly unknown[]).entries()) {
    if (typeof transaction !== 'object' || transaction === null) continue;
    const { blockHash, transactionIndex } = transaction as Readonly<Record<string, unknown>>; // a JSON object
    if (blockHash !== hash || Number(transactionIndex) !== i)
      throw new InvalidResponseError(`transaction ${i} of block ${number} says that it stands elsewhere`);
  }
  if (checkBlockHash(block) && knowsTransactions(chainId)) checkTransactions(block);
}
