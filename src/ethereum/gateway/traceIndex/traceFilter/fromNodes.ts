import { BlockUnavailableError, fetchBlocks } from '../../../ingest/index.ts';
import { RpcError } from '../../../jsonrpc/index.ts';
import { NodeError } from '../../../nodes/index.ts';
import { type IndexedBlock, IndexUnavailableError, type TraceReader } from '../../../traces/index.ts';
import { clientOf } from '../../method.ts';
import type { Caller, IndexServices } from '../traces/indexServices.ts';

/**
 * Returns the index for a call. If a shared index lacks a few blocks or does not prove them, they are fetched from
 * nodes and charged to the client. Its reads then throw RpcError if no node returns these blocks.
 */
export const storeFor = (services: IndexServices, caller: Caller): TraceReader =>
  services.store.fetching?.((numbers) => fetchUnstored(services, numbers, caller)) ?? services.store;

export const isUnproven = (error: unknown): boolean =>
  error instanceof IndexUnavailableError && error.isUnproven;

async function fetchUnstored(
  { indexer, finder }: IndexServices,
  numbers: readonly number[],
  caller: Caller,
): Promise<IndexedBlock[]> {
  const fetched: IndexedBlock[] = [];
  await indexer.charge(numbers.length, clientOf(caller));
  const { signal } = new AbortController();
  try {
    for await (const blocks of fetchBlocks(numbers, { store: {}, source: finder, signal }))
      fetched.push(...blocks);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    throw notFound(new BlockUnavailableError(numbers[fetched.length] ?? 0));
  }
  for (const { block } of fetched)
    if (block.unavailable !== undefined)
      throw notFound(new BlockUnavailableError(block.number, { failure: block.unavailable }));
  return fetched;
}

export const notFound = ({ blockNumber, message, failure }: BlockUnavailableError): RpcError =>
  new RpcError('resourceNotFound', message, {
    blockNumber,
    ...(failure !== undefined && { reason: failure }),
  });
