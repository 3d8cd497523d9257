import type { BlockHeader, Trace } from '../../index.ts';
import { BlockMismatchError } from './blockMismatchError.ts';

/**
 * Checks that the receipts of a block agree with its traces: a receipt for each transaction, in order, and a root frame
 * with an error for each transaction that failed. A receipt without a status, from before Byzantium, proves nothing.
 * Some chains append receipts that belong to no transaction.
 *
 * @throws BlockMismatchError for the first mismatch.
 */
export function checkReceipts(header: BlockHeader, traces: readonly Trace[], receipts: unknown): void {
  const { number, hash, transactionHashes } = header;
  const fail = (reason: string) => new BlockMismatchError(number, reason);
  if (!Array.isArray(receipts)) throw fail('the receipts are not a list');
  const failed = new Set<number>();
  for (const [i, expected] of transactionHashes.entries()) {
    const { transactionHash, blockHash, status } = (receipts[i] ?? {}) as Readonly<Record<string, unknown>>; // safe for any JSON value
    if (String(transactionHash).toLowerCase() !== expected)
      throw fail(`receipt ${i} is not of transaction ${expected}`);
    if (String(blockHash).toLowerCase() !== hash) throw fail(`receipt ${i} is not of block ${hash}`);
    if (typeof status === 'string' && Number(status) === 0) failed.add(i);
  }
  if (failed.size === 0) return;
  for (const trace of traces) {
    if (trace.type === 'reward' || trace.traceAddress.length > 0 || trace.error !== undefined) continue;
    if (failed.has(trace.transactionPosition ?? -1))
      throw fail(
        `transaction ${trace.transactionPosition} failed according to its receipt, but its root frame has no error`,
      );
  }
}
