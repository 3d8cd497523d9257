import { NoNodeError } from '../../jsonrpc/index.ts';
import { NodeError, type TransactionFinder } from '../../nodes/index.ts';
import { type Awaitable, andThen, type Hash } from '../../traces/index.ts';
import { answerInBytes, fetchMissing, MAX_READS } from '../traceFilter/fromIndex.ts';
import type { IndexServices } from './indexServices.ts';

const NULL = Buffer.from('null');

/** Reads of the blocks up to a number; of all where it is undefined. */
type ReadTransaction<T> = (upTo: number | undefined) => Awaitable<T | null | undefined>;

/**
 * What `read` finds of a transaction in the index, `null` where it is in no block. One that the index does not have, or has
 * above the head of the nodes, which may have gone down, is looked for at the nodes, and its block is indexed. Throws RpcError where that cannot be done, or where the answer is too
 * large, with what to do `instead`.
 */
export function fromTransaction(
  services: IndexServices,
  instead: string,
): (hash: Hash, read: ReadTransaction<Buffer>) => Awaitable<Buffer> {
  return (hash, read) =>
    andThen(
      answerInBytes(() => findTransaction(services, hash, read), instead),
      (known) => known ?? NULL,
    );
}

/** The same without a bound of its own: null where the transaction is in no block. */
export const findTransaction = <T>(
  services: IndexServices,
  hash: Hash,
  read: ReadTransaction<T>,
): Awaitable<T | null> =>
  andThen(read(services.indexer.lastHeads?.latest.number), (held) =>
    held === undefined ? readFetched(services, hash, read) : held,
  );

async function readFetched<T>(
  { indexer, finder }: IndexServices,
  hash: Hash,
  read: ReadTransaction<T>,
): Promise<T | null> {
  for (let left = MAX_READS - 1; left > 0; left--) {
    const blockNumber = await blockOf(finder, hash);
    if (blockNumber === undefined) return null;
    await fetchMissing(indexer, blockNumber, blockNumber);
    const held = await read(blockNumber);
    if (held !== undefined) return held;
    // The block was replaced meanwhile: the transaction may stand in another now.
  }
  return null;
}

const blockOf = (finder: TransactionFinder, hash: Hash): Promise<number | undefined> =>
  finder.transactionBlock(hash).catch((error: unknown) => {
    if (!(error instanceof NodeError)) throw error;
    throw new NoNodeError('the transaction is not in the index, and no node can tell where it is; try again');
  });
