import { RpcError } from '../../jsonrpc/index.ts';
import { NodeError } from '../../nodes/index.ts';
import type { Hash } from '../../traces/index.ts';
import { fetchMissing } from '../traceFilter/fromIndex.ts';
import type { TraceMethodOptions } from './options.ts';

/**
 * What `read` finds of a transaction in the index; undefined where it is in no block. One that the index does not have is
 * looked for at the nodes, and its block is indexed. Throws RpcError where that cannot be done.
 */
export async function fromTransaction<T>(
  { indexer, finder }: TraceMethodOptions,
  hash: Hash,
  read: () => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  const held = await read();
  if (held !== undefined) return held;
  const blockNumber = await finder.transactionBlock(hash).catch((error: unknown) => {
    if (!(error instanceof NodeError)) throw error;
    throw new RpcError(
      'resourceUnavailable',
      'the transaction is not in the index, and no node can tell where it is; try again',
    );
  });
  if (blockNumber === undefined) return undefined;
  await fetchMissing(indexer, blockNumber, blockNumber);
  return read();
}
