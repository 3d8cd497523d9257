import { checkBlockHash } from './blockHash.ts';
import { checkTransactions, knowsTransactions } from './checkTransactions.ts';
import { InvalidResponseError } from './invalidResponseError.ts';

/**
 * Checks that a block is the requested one, that its hash is the hash of its header and, as far as the response shows
 * this, that its transactions match the header. Throws InvalidResponseError.
 */
export function checkBlock(
  block: Readonly<Record<string, unknown>>,
  asked: { readonly number?: unknown; readonly hash?: unknown },
  chainId: string | undefined,
): void {
  const { number, hash, transactions } = block;
  const isNumbered = typeof asked.number === 'string' && asked.number.startsWith('0x');
  if (isNumbered && String(number).toLowerCase() !== asked.number)
    throw new InvalidResponseError(`requested block ${asked.number}, received block ${number}`);
  if (asked.hash !== undefined && String(hash).toLowerCase() !== asked.hash)
    throw new InvalidResponseError(`requested block ${asked.hash}, received block ${hash}`);
  if (!Array.isArray(transactions))
    throw new InvalidResponseError(`block ${number} has no list of transactions`);
  // The pending block has no hash yet, and its transactions have no index.
  if (hash === null || hash === undefined || asked.number === 'pending') return;
  for (const [i, transaction] of (transactions as readonly unknown[]).entries()) {
    if (typeof transaction !== 'object' || transaction === null) continue;
    const { blockHash, blockNumber, transactionIndex } = transaction as Readonly<Record<string, unknown>>; // a JSON object
    if (blockHash !== hash || Number(blockNumber) !== Number(number) || Number(transactionIndex) !== i)
      throw new InvalidResponseError(
        `transaction ${i} of block ${number} has another block hash, block number or index`,
      );
  }
  if (checkBlockHash(block) && knowsTransactions(chainId)) checkTransactions(block);
}
