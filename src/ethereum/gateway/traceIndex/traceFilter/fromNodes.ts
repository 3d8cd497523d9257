import { BlockUnavailableError, fetchBlocks, range } from '../../../ingest/index.ts';
import { RPC_ERRORS, RpcError } from '../../../jsonrpc/index.ts';
import { NodeError } from '../../../nodes/index.ts';
import {
  type BlocksReader,
  type IndexedBlock,
  IndexUnavailableError,
  type MaybePromise,
} from '../../../traces/index.ts';
import { clientOf } from '../../method.ts';
import type { Caller, IndexServices } from '../traces/indexServices.ts';

/** Maximum number of blocks that are fetched for one read and not stored. It bounds the memory of the read. */
const MAX_UNSTORED_BLOCKS = 16;

export interface WantedRange {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** The client for which missing blocks are fetched. */
  readonly caller: Caller;
}

/** Reads blocks from the index, or from blocks that are not stored. Returns undefined if a block is missing. */
export type ReadBlocks<T> = (store: BlocksReader) => MaybePromise<T | undefined>;

/**
 * Returns the result of `usual`. If a shared index lacks blocks or does not prove their rows, `read` gets the blocks of
 * the nodes, which are not stored. Wider ranges than MAX_UNSTORED_BLOCKS fail instead.
 */
export function orFromNodes<T>(
  services: IndexServices,
  wanted: WantedRange & { readonly read: ReadBlocks<T> },
  usual: () => MaybePromise<T>,
): MaybePromise<T> {
  const { store } = services;
  const result = usual();
  if (store.unstored === undefined || !(result instanceof Promise)) return result;
  return result.catch(async (error: unknown) => {
    if (!mayBeFetched(error) || wanted.toBlock - wanted.fromBlock >= MAX_UNSTORED_BLOCKS) throw error;
    const fetched = await wanted.read(store.unstored?.(await fetchUnstored(services, wanted)) ?? store);
    if (fetched === undefined) throw error;
    return fetched;
  });
}

/** Returns whether a read failed because blocks are missing or not proven. False if no node can trace a block. */
const mayBeFetched = (error: unknown): boolean =>
  isUnproven(error) ||
  (error instanceof RpcError &&
    error.code === RPC_ERRORS.resourceNotFound.code &&
    !Object.hasOwn(error.data ?? {}, 'reason'));

export const isUnproven = (error: unknown): boolean =>
  error instanceof IndexUnavailableError && error.isUnproven;

async function fetchUnstored(
  { indexer, finder }: IndexServices,
  { fromBlock, toBlock, caller }: WantedRange,
): Promise<IndexedBlock[]> {
  const fetched: IndexedBlock[] = [];
  await indexer.charge(toBlock - fromBlock + 1, clientOf(caller));
  const { signal } = new AbortController();
  try {
    for await (const blocks of fetchBlocks(range(fromBlock, toBlock), { store: {}, source: finder, signal }))
      fetched.push(...blocks);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    throw notFound(new BlockUnavailableError(fromBlock + fetched.length));
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
